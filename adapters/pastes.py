"""A message that is too long to be a question → the question and the paste beside it; and context
of any length within its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.graphemes import safe_cut
from rag_core.agent.paste import error_lines, find_question
from rag_core.conversation.context import MAX_CONTEXT, ContextItem, ContextKind
from rag_core.conversation.question import MAX_QUESTION, shows_nothing

GAP = "\n[…]\n"
LONGEST_PASTE = 8_000
LEAST = 200
"""Characters of an item below which it is left out rather than cut."""
ERRORS_SHARE = 3
"""Lines that name an error get up to this part of the room, and so does the start of a paste."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitMessage:
    """The question of a message, and what was pasted with it."""

    question: str
    paste: str = ""
    original_length: int = 0
    """Characters of the message; 0: it was not split."""

    @property
    def context(self) -> tuple[ContextItem, ...]:
        return (ContextItem(kind=ContextKind.PASTE, text=self.paste),) if self.paste else ()


def split_message(text: str) -> SplitMessage:
    """A message as it is where it fits; else the question in it, and the rest as a paste."""
    text = text.strip()
    if len(text) <= MAX_QUESTION:
        return SplitMessage(question=text)
    start, end = find_question(text)
    start, end = safe_cut(text, 0, start), safe_cut(text, start, end)
    asked = text[start:end].strip()
    rest = f"{text[:start].rstrip()}\n{text[end:].lstrip()}".strip()
    paste = "" if shows_nothing(rest) else condense(rest, LONGEST_PASTE)
    return SplitMessage(question=asked, paste=paste, original_length=len(text))


def condense(text: str, room: int) -> str:
    """A text within so many characters: its first and last lines, and between them its error
    lines."""
    if len(text) <= room:
        return text
    head = text[: safe_cut(text, 0, room // ERRORS_SHARE)].rstrip()
    left = room - len(head) - 2 * len(GAP)
    last = left - left // 2
    tail = text[safe_cut(text, 0, len(text) - last) :]
    middle = text[len(head) : len(text) - len(tail)]
    errors = _newest(error_lines(middle), left // 2)
    if not errors:
        tail = text[safe_cut(text, 0, len(text) - left) :]
    parts = (part for part in (head, errors, tail.lstrip()) if part)
    return GAP.join(parts)[:room]


def fit_context(items: Sequence[ContextItem]) -> tuple[ContextItem, ...]:
    """As much of the items as a question may bring along: pastes and files before talk, of the
    talk its beginning and its newest."""
    room = MAX_CONTEXT
    kept: dict[int, ContextItem] = {}
    talk = [place for place, item in enumerate(items) if item.kind is ContextKind.THREAD]
    others = [place for place in range(len(items)) if place not in talk]
    for place in (*others, *talk[:1], *reversed(talk[1:])):
        item = items[place]
        left = room - len(item.author)
        if shows_nothing(item.text) or (len(item.text) > left and left < LEAST):
            continue
        kept[place] = replace(item, text=condense(item.text, min(left, LONGEST_PASTE)))
        room -= kept[place].size
    return tuple(kept[place] for place in sorted(kept))


def _newest(lines: Sequence[str], room: int) -> str:
    """The last different lines that there is room for, in order."""
    kept: list[str] = []
    for line in dict.fromkeys(reversed(lines)):
        if len(line) + 1 > room:
            break
        kept.append(line)
        room -= len(line) + 1
    return "\n".join(reversed(kept))
