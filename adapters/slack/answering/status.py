"""What Slack shows while an answer is made: a word on how far it is, and the text so far."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.slack.answering.drafts import Drafts
from adapters.slack.answering.markdown import neutralise
from adapters.slack.answering.writer import Writer
from adapters.slack.calling.team import Team
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import UpstreamError
from rag_core.text.visible import visible

log = logging.getLogger(__name__)

STATUS = "assistant.threads.setStatus"
WORDS = {
    QuestionState.PENDING: "is reading the question…",
    QuestionState.RETRIEVING: "is searching the docs…",
    QuestionState.GENERATING: "is writing and checking citations…",
}
LONGEST = 50
FIRST_FLUSH = 40
"""Characters: the first words come as soon as they make sense, the rest in steady steps."""
LAST_SECONDS = 2.0


@asynccontextmanager
async def shown(
    team: Team, question: IncomingQuestion, drafts: Drafts, *, every_seconds: float
) -> AsyncIterator[Progress]:
    """Follow one answer. Slack takes the status away when something is posted."""
    answer = AnswerSoFar(every_seconds)
    writer = Writer(team, question, drafts)
    telling = asyncio.create_task(keep_telling(team, question, answer))
    writing = asyncio.create_task(keep_writing(writer, answer))
    try:
        yield answer
    finally:
        telling.cancel()
        answer.end()
        await _ended(writing)
        await asyncio.gather(telling, return_exceptions=True)


async def _ended(writing: asyncio.Task[None]) -> None:
    """What is on its way comes to its end, so that it cannot arrive after the whole answer."""
    await asyncio.wait([writing], timeout=LAST_SECONDS)
    writing.cancel()
    [end] = await asyncio.gather(writing, return_exceptions=True)
    if isinstance(end, Exception):
        log.warning("a text was not shown", extra={"cause": type(end).__name__})


class AnswerSoFar:
    """The newest word and the newest text; whoever shows them may skip the ones in between."""

    def __init__(self, every_seconds: float) -> None:
        self._every_seconds = every_seconds
        self._words = ""
        self._text = ""
        self._begun = False
        self._ended = asyncio.Event()
        self._news = asyncio.Event()
        self._more = asyncio.Event()

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        words = neutralise(visible(detail))[:LONGEST] or WORDS.get(state, "")
        if words and words != self._words:
            self._words = words
            self._news.set()

    async def text(self, delta: str, *, restart: bool = False) -> None:
        self._text = delta if restart else self._text + delta
        if len(self._text) >= FIRST_FLUSH or self._begun:
            self._begun = True
            self._more.set()

    def end(self) -> None:
        self._ended.set()
        self._more.set()

    async def next_words(self) -> str:
        await self._news.wait()
        self._news.clear()
        return self._words

    async def next_text(self) -> str | None:
        """The text once it has grown; None when there will be no more of it."""
        await self._more.wait()
        self._more.clear()
        return None if self._ended.is_set() else self._text

    async def pause(self) -> None:
        """A step's time, or until there will be no more."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._every_seconds):
                await self._ended.wait()


async def keep_telling(team: Team, question: IncomingQuestion, answer: AnswerSoFar) -> None:
    """Until cancelled: the status, as long as the workspace lets us set it."""
    while team.offers(STATUS):
        words = await answer.next_words()
        if not team.offers(STATUS) or not team.budget.take(STATUS):
            continue
        try:
            await team.call_now(
                STATUS,
                channel_id=question.key.channel_id,
                thread_ts=question.key.thread_id,
                status=words,
            )
        except UpstreamError as error:
            log.debug("a status was not shown", extra={"cause": str(error)})


async def keep_writing(writer: Writer, answer: AnswerSoFar) -> None:
    """Until there is no more text, and then stop the stream."""
    begun = False
    while (text := await answer.next_text()) is not None:
        if not begun:
            await writer.take_over()
            begun = True
        await writer.show(text)
        await answer.pause()
    await writer.end()
