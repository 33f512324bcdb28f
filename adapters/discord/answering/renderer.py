"""An answer → the messages that show it on Discord."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from adapters.discord.acting.buttons import buttons
from adapters.discord.answering.footer import (
    earlier,
    footnotes,
    plain_footer,
    quoted_note,
    suggestions,
)
from adapters.discord.answering.markdown import discord_parts
from adapters.discord.answering.notes import notes
from adapters.discord.answering.post import Post, TextFile
from adapters.discord.phrases import phrases_for
from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import Rung
from rag_core.reading.quotations import with_bold_marks

MAX_PART, SMALL_PART = 1_900, 900
FIRST_WORDS = 300
"""So much of an answer stands at least below what is said before it."""
COUNT = 20
"""What the line that counts a part may take."""
FILE_NAME = "answer.md"
NOTHING_TO_SHOW = "(The answer has no text that can be shown.)"


class DiscordRenderer:
    """Discord's form of an answer: parts of at most 1,900 characters, footnotes on the last."""

    def __init__(
        self, *, with_buttons: bool = False, staffed: Collection[str] = frozenset()
    ) -> None:
        self._with_buttons = with_buttons
        self._staffed = staffed
        """The servers that have a role for people who help."""

    def render(
        self, response: AgentResponse, question: IncomingQuestion, *, rung: Rung = Rung.RICH
    ) -> Sequence[str]:
        return [post.payload() for post in self._posts(response, question, rung)]

    def _posts(
        self, response: AgentResponse, question: IncomingQuestion, rung: Rung
    ) -> Sequence[Post]:
        above = notes(response, question)
        answer = with_bold_marks(response)
        if rung is Rung.FILE:
            body, below = "\n".join([*above, response.answer]), plain_footer(response, question)
            return [Post(content=phrases_for(question).in_the_file, file=as_file(body, below))]
        if rung is Rung.PLAIN:
            return parts_of(above, answer, plain_footer(response, question))
        below = [
            [*quoted_note(response, question), *footnotes(response)],
            suggestions(response, question),
            earlier(response, question),
        ]
        if rung is Rung.SPLIT:
            return parts_of(above, answer, below, limit=SMALL_PART)
        *first, last = parts_of(above, answer, below)
        return [*first, Post(content=last.content, components=self._buttons(response, question))]

    def _buttons(self, response: AgentResponse, question: IncomingQuestion) -> list[dict[str, Any]]:
        if not self._with_buttons:
            return []
        return buttons(response, question, has_staff=question.key.tenant in self._staffed)


def parts_of(
    above: Sequence[str],
    answer: str,
    below: Sequence[Sequence[str]],
    *,
    limit: int = MAX_PART,
) -> list[Post]:
    """The answer in parts, with lines above the first one and blocks of lines below the last."""
    room = limit - COUNT
    *early, head = pack_lines(above, room - FIRST_WORDS) or [""]
    head = f"{head}\n" if head else ""
    first, *more = discord_parts(answer, room - len(head)) or [NOTHING_TO_SHOW]
    parts = [*early, head + first, *more]
    for lines in below:
        append(parts, lines, room)
    return [Post(content=part) for part in counted(parts)]


def pack_lines(lines: Sequence[str], room: int) -> list[str]:
    """Lines below each other in as few parts as hold them; none is cut."""
    parts: list[str] = []
    for line in lines:
        if parts and len(parts[-1]) + 1 + len(line) <= room:
            parts[-1] += f"\n{line}"
        else:
            parts.append(line)
    return parts


def append(parts: list[str], lines: Sequence[str], room: int) -> None:
    """Add lines below the last part, or in further parts where they find no room; none is cut."""
    separator = "\n\n"
    for line in lines:
        if len(parts[-1]) + len(separator) + len(line) <= room:
            parts[-1] += separator + line
        else:
            parts.append(line)
        separator = "\n"


def counted(parts: Sequence[str]) -> list[str]:
    """Parts that say which they are: no two of one answer are the same."""
    if len(parts) == 1:
        return list(parts)
    return [f"{part}\n-# {number}/{len(parts)}" for number, part in enumerate(parts, 1)]


def as_file(body: str, below: Sequence[Sequence[str]]) -> TextFile:
    blocks = [[body], *below]
    return TextFile(
        name=FILE_NAME, text="\n\n".join("\n".join(block) for block in blocks if block) + "\n"
    )
