"""Where an answer is written: a thread made from its question, or where it was asked."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass

from adapters.discord.answering.doors import ClosedDoors
from adapters.discord.gateway.errors import UNKNOWN_MESSAGE, DiscordRefused
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.hearing.channels import NEW_THREAD
from adapters.discord.wording import thread_title
from rag_core.desk.incoming import IncomingQuestion

log = logging.getLogger(__name__)

REMEMBERED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPlace:
    """A channel or thread, and the message there that the answer replies to."""

    channel_id: str
    reply_to: str | None = None


class AnswerPlaces:
    """Opens threads; where that is refused, the answer goes below the question itself."""

    def __init__(self, rest: DiscordRest, doors: ClosedDoors) -> None:
        self._rest = rest
        self._doors = doors
        self._opened: OrderedDict[str, AnswerPlace] = OrderedDict()
        self._opening: dict[str, asyncio.Task[AnswerPlace]] = {}

    async def open(self, question: IncomingQuestion) -> AnswerPlace:
        """The place to write to; a thread is there when this returns."""
        if not makes_thread(question):
            return candidates(question)[0]
        if question.message_id in self._opened:
            return self._opened[question.message_id]
        # The typing sign, the progress line and the answer may each be the first to need it, and
        # the first two may be over before it is there: it is opened once, whoever waits.
        opening = self._opening.get(question.message_id)
        return await asyncio.shield(opening or self._begin(question))

    def known(self, question: IncomingQuestion) -> list[AnswerPlace]:
        """Where this process has written, and every other place where an answer may stand."""
        opened = self._opened.get(question.message_id)
        others = [place for place in candidates(question) if place != opened]
        return [opened, *others] if opened is not None else others

    def below(self, question: IncomingQuestion, refusal: DiscordRefused) -> AnswerPlace | None:
        """Below the question itself, where its thread does not take the answer."""
        if not makes_thread(question):
            return None
        self._doors.close(f"threads:{question.key.channel_id}", refusal)
        return self._remember(question, candidates(question)[1])

    def _begin(self, question: IncomingQuestion) -> asyncio.Task[AnswerPlace]:
        opening = asyncio.create_task(self._open_once(question))
        self._opening[question.message_id] = opening
        opening.add_done_callback(lambda done: self._end(question.message_id, done))
        return opening

    def _end(self, message_id: str, done: asyncio.Task[AnswerPlace]) -> None:
        del self._opening[message_id]
        if not done.cancelled():
            done.exception()  # whoever needs the thread tries again and hears of it

    async def _open_once(self, question: IncomingQuestion) -> AnswerPlace:
        return self._remember(question, await self._open_thread(question))

    async def _open_thread(self, question: IncomingQuestion) -> AnswerPlace:
        _, below = candidates(question)
        title = thread_title(question.question.message)
        no_threads = f"threads:{question.key.channel_id}"
        if self._doors.refusal(no_threads):
            return below
        try:
            thread_id = await self._rest.open_thread(
                question.key.channel_id, question.message_id, title=title
            )
        except DiscordRefused as refusal:
            if refusal.retryable or refusal.code == UNKNOWN_MESSAGE:
                raise
            log.warning(
                "no thread could be made: the answer goes below the question",
                extra={"channel_id": question.key.channel_id, "code": refusal.code},
            )
            self._doors.close(no_threads, refusal)
            return below
        return AnswerPlace(channel_id=thread_id)

    def _remember(self, question: IncomingQuestion, place: AnswerPlace) -> AnswerPlace:
        self._opened[question.message_id] = place
        while len(self._opened) > REMEMBERED:
            self._opened.popitem(last=False)
        return place


def candidates(question: IncomingQuestion) -> list[AnswerPlace]:
    """Every place where an earlier attempt may have written, the likeliest first."""
    key = question.key
    if not makes_thread(question):
        return [AnswerPlace(channel_id=key.thread_id, reply_to=question.message_id)]
    return [
        AnswerPlace(channel_id=key.thread_id),
        AnswerPlace(channel_id=key.channel_id, reply_to=question.message_id),
    ]


def makes_thread(question: IncomingQuestion) -> bool:
    return question.address.get("thread") == NEW_THREAD["thread"]
