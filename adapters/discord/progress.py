"""One line that says how far an answer is, and is gone when the answer is there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from adapters.discord.asking import ticket_for
from adapters.discord.places import AnswerPlaces
from adapters.discord.rest import DiscordRest
from adapters.discord.tokens import TicketRest
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

WORDS = {
    QuestionState.RETRIEVING: "-# 🔎 Looking in the documents…",
    QuestionState.GENERATING: "-# ✍️ Writing the answer…",
}
LAST_CALL_SECONDS = 3.0
"""How long an answer waits for a line that is on its way, so that it cannot arrive afterwards."""


class Line(Protocol):
    """A place where one line can stand for a while."""

    async def show(self, words: str) -> None: ...

    async def remove(self) -> None: ...


class MessageLine:
    """A message of its own where the answer will stand."""

    def __init__(
        self, question: IncomingQuestion, *, rest: DiscordRest, places: AnswerPlaces
    ) -> None:
        self._question = question
        self._rest = rest
        self._places = places
        self._channel_id = ""
        self._message_id: str | None = None

    async def show(self, words: str) -> None:
        if self._message_id is not None:
            await self._rest.edit(self._channel_id, self._message_id, words)
            return
        self._channel_id = (await self._places.open(self._question)).channel_id
        # The same every time: a line that a lost attempt left behind is taken over.
        nonce = f"line{self._question.message_id}"
        self._message_id = await self._rest.send(self._channel_id, words, nonce=nonce)

    async def remove(self) -> None:
        if self._message_id is not None:
            await self._rest.delete(self._channel_id, self._message_id)


class TicketLine:
    """Where a command's answer was announced; the answer itself takes its place."""

    def __init__(self, question: IncomingQuestion, *, tickets: TicketRest) -> None:
        self._ticket = ticket_for(question)
        self._tickets = tickets

    async def show(self, words: str) -> None:
        await self._tickets.write(self._ticket, words)

    async def remove(self) -> None:
        """Nothing is left when the answer is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePace:
    """A quick answer needs no line; a slow one changes it no faster than Discord allows."""

    after_seconds: float
    every_seconds: float

    def first_after(self, heard_at: datetime) -> float:
        """Whoever has waited already, in a queue or for a process that was lost, sees it at once:
        then a line that the lost process left is also found again, and removed."""
        waited = (datetime.now(UTC) - heard_at).total_seconds()
        return max(0.0, self.after_seconds - waited)


class ProgressLine:
    """Progress that shows as a line: the latest stage wins, and nobody waits for it."""

    def __init__(self, line: Line, pace: LinePace, *, heard_at: datetime) -> None:
        self._line = line
        self._pace = pace
        self._heard_at = heard_at
        self._words = ""
        self._news = asyncio.Event()
        self._showing: asyncio.Task[None] | None = None

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        words = WORDS.get(state)
        if words is not None and words != self._words:
            self._words = words
            self._news.set()

    async def text(self, delta: str, *, restart: bool = False) -> None:
        """The answer is shown when it is whole."""

    async def keep_shown(self) -> None:
        """Until cancelled, or until Discord does not take the line."""
        await asyncio.sleep(self._pace.first_after(self._heard_at))
        while True:
            await self._news.wait()
            self._news.clear()
            self._showing = asyncio.create_task(self._line.show(self._words))
            try:
                await asyncio.shield(self._showing)
            except UpstreamError as error:
                log.info("no progress line", extra={"cause": str(error)})
                return
            await asyncio.sleep(self._pace.every_seconds)

    async def take_away(self) -> None:
        """Best effort; what is on its way comes first, or the line would stay for good."""
        try:
            async with asyncio.timeout(LAST_CALL_SECONDS):
                if self._showing is not None:
                    await asyncio.gather(self._showing, return_exceptions=True)
                await self._line.remove()
        except (UpstreamError, TimeoutError) as error:
            log.info("a progress line may be left", extra={"cause": type(error).__name__})


@asynccontextmanager
async def shown(line: Line, pace: LinePace, *, heard_at: datetime) -> AsyncIterator[Progress]:
    """A progress with its line, which is taken away at the end."""
    progress = ProgressLine(line, pace, heard_at=heard_at)
    keeping = asyncio.create_task(progress.keep_shown())
    try:
        yield progress
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await progress.take_away()
