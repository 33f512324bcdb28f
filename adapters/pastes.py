"""A message that is too long to be a question → the question and the paste beside it; and context
of any length within its bound."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.graphemes import safe_cut
from rag_core.agent.paste import error_lines, is_trace
from rag_core.agent.requests import QUESTION_MARK, asks_something
from rag_core.conversation.context import MAX_CONTEXT, ContextItem, ContextKind
from rag_core.conversation.question import MAX_QUESTION, shows_nothing

GAP = "\n[…]\n"
LONGEST_ASKED = 500
"""Characters of a question that is taken out of a longer message."""
LONGEST_PASTE = 8_000
LEAST = 200
"""Characters of an item below which it is left out rather than cut."""
ERRORS_SHARE = 3
"""Lines that name an error get up to this part of the room, and so does the start of a paste."""
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")


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
    start, end = _find_question(text)
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


def _find_question(text: str) -> tuple[int, int]:
    """Where the question stands: the first paragraph of a person's own words that has a question
    mark, else one that asks, else the first words, else the last line that names an error."""
    paragraphs = _own_paragraphs(text)
    for asks in (QUESTION_MARK.search, asks_something):
        for start, end in paragraphs:
            if asks(text[start:end]):
                return _within(text, start, end)
    if paragraphs:
        return _within(text, *paragraphs[0])
    errors = error_lines(text)
    line = errors[-1] if errors else text.partition("\n")[0]
    start = text.rindex(line)
    return start, safe_cut(text, start, min(start + len(line), start + LONGEST_ASKED))


def _within(text: str, start: int, end: int) -> tuple[int, int]:
    """Of a long paragraph the sentence that asks, with what stands before it."""
    if end - start <= LONGEST_ASKED:
        return start, end
    marks = [start + found.end() for found in QUESTION_MARK.finditer(text[start:end])]
    if not marks:
        return start, safe_cut(text, start, start + LONGEST_ASKED)
    mark = marks[-1]
    return max(start, safe_cut(text, start, max(start, mark - LONGEST_ASKED))), mark


def _own_paragraphs(text: str) -> list[tuple[int, int]]:
    """The runs of lines that are neither empty nor code, quotes or a log."""
    spans: list[tuple[int, int]] = []
    fence, position, open_span = "", 0, False
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        is_own = not (fence or found or not line.strip() or line.startswith(">") or is_trace(line))
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence):
            fence = ""
        if is_own and open_span:
            spans[-1] = (spans[-1][0], position + len(line))
        elif is_own:
            spans.append((position, position + len(line)))
        open_span = is_own
        position += len(line)
    return spans
