"""How far an answer is, and the text as it is written: shown in one message, as often as Discord
takes it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Protocol

from adapters.discord.answering.markdown import discord_parts
from adapters.discord.wording import escaped
from adapters.excerpts import one_line
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

SIGNS = {
    QuestionState.PENDING: "⏳",
    QuestionState.RETRIEVING: "🔎",
    QuestionState.GENERATING: "✍️",
}
WORDS = {
    QuestionState.PENDING: "Working on it…",
    QuestionState.RETRIEVING: "Looking in the documents…",
    QuestionState.GENERATING: "Writing the answer…",
}
MAX_SHOWN = 1_800
MAX_DETAIL = 100
LAST_CALL_SECONDS = 3.0
"""How long an answer waits for a line that is on its way, so that it cannot arrive afterwards."""


class Line(Protocol):
    """A place where one message can stand for a while."""

    async def turn(self, *, first: bool) -> None:
        """Wait until it may be shown; first words go before further ones."""
        ...

    async def show(self, words: str) -> None: ...

    async def remove(self) -> None: ...

    @property
    def rest_seconds(self) -> float:
        """How long to leave it alone, as far as Discord has told."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePace:
    """A quick answer needs no line; a slow one changes it no faster than Discord allows."""

    after_seconds: float
    every_seconds: float

    def first_after(self, heard_at: datetime) -> float:
        """Whoever has waited already, in a queue or for a process that was lost, sees it at once:
        then a line that the lost process left is also found again."""
        waited = (datetime.now(UTC) - heard_at).total_seconds()
        return max(0.0, self.after_seconds - waited)


class ProgressLine:
    """Progress that shows in a line: the latest state wins, and nobody waits for it."""

    def __init__(self, line: Line, pace: LinePace, *, heard_at: datetime) -> None:
        self._line = line
        self._pace = pace
        self._heard_at = heard_at
        self._stage = ""
        self._text = ""
        self._was = ""
        self._text_was_shown = False
        self._news = asyncio.Event()
        self._showing: asyncio.Task[None] | None = None

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        if state in WORDS:
            words = escaped(one_line(detail, MAX_DETAIL)) or WORDS[state]
            self._stage = f"-# {SIGNS[state]} {words}"
            self._news.set()

    async def text(self, delta: str, *, restart: bool = False) -> None:
        self._text = delta if restart else self._text + delta
        self._news.set()

    @property
    def words(self) -> str:
        """What is to be seen now: of a long text the part that is being written."""
        if not self._text.strip():
            return self._stage
        part = "".join(discord_parts(self._text, MAX_SHOWN - len(self._stage))[-1:])
        below = self._stage or f"-# {SIGNS[QuestionState.GENERATING]}"
        return f"{part}\n{below}"

    async def keep_shown(self) -> None:
        """Until cancelled, or until Discord does not take the line."""
        await asyncio.sleep(self._pace.first_after(self._heard_at))
        while True:
            await self._news.wait()
            await self._line.turn(first=not self._text_was_shown)
            self._news.clear()
            words = self.words
            if not words or words == self._was:
                continue
            self._text_was_shown = bool(self._text)
            began = monotonic()
            self._showing = asyncio.create_task(self._line.show(words))
            try:
                await asyncio.shield(self._showing)
            except UpstreamError as error:
                log.info("no progress line", extra={"cause": str(error)})
                return
            self._was = words
            pause = max(self._pace.every_seconds, self._line.rest_seconds)
            await asyncio.sleep(pause - (monotonic() - began))

    async def end(self, *, answered: bool) -> None:
        """What is on its way comes first; the line stays for the answer, if there will be one."""
        try:
            async with asyncio.timeout(LAST_CALL_SECONDS):
                if self._showing is not None:
                    await asyncio.gather(self._showing, return_exceptions=True)
                if not answered:
                    await self._line.remove()
        except (UpstreamError, TimeoutError) as error:
            log.info("a progress line may be left", extra={"cause": type(error).__name__})


@asynccontextmanager
async def shown(line: Line, pace: LinePace, question: IncomingQuestion) -> AsyncIterator[Progress]:
    """A progress with its line. At the end the line waits for the answer to take its place; of a
    question that was put down it is taken away."""
    progress = ProgressLine(line, pace, heard_at=question.heard_at)
    keeping = asyncio.create_task(progress.keep_shown())
    answered = False
    try:
        yield progress
        answered = True
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await progress.end(answered=answered)
