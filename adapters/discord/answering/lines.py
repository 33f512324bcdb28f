"""The messages that show how far an answer is, and become its first part."""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from datetime import UTC, datetime, timedelta

from adapters.discord.acting.asking import ticket_for
from adapters.discord.answering.places import AnswerPlaces
from adapters.discord.answering.post import Post
from adapters.discord.answering.progress import SIGNS
from adapters.discord.gateway.errors import GONE, DiscordRefused
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.gateway.tokens import TicketRest
from adapters.discord.gateway.turns import Urgency, as_urgent_as
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

REMEMBERED = 1_000
NONCE_HOLDS = timedelta(seconds=60)
"""For so long Discord surely knows a nonce again, and no other process takes a question over."""
PROGRESS = re.compile(rf"(?:^|\n)-# (?:{'|'.join(SIGNS.values())})[^\n]*$")


class MessageLine:
    """A message of its own where the answer will stand."""

    def __init__(
        self,
        question: IncomingQuestion,
        *,
        rest: DiscordRest,
        places: AnswerPlaces,
        number: int,
        may_be_there: bool,
    ) -> None:
        self._question = question
        self._rest = rest
        self._places = places
        self._at: tuple[str, str] | None = None
        self._number = number
        self._may_be_there = may_be_there
        """Whether it may have been sent by a process that is gone, or without our hearing of it."""

    @property
    def rest_seconds(self) -> float:
        return self._rest.edit_pause(self._at[0]) if self._at else 0.0

    async def turn(self, *, first: bool) -> None:
        await self._rest.turn(Urgency.FIRST_WORDS if first else Urgency.FURTHER_WORDS)

    async def show(self, words: str) -> None:
        with as_urgent_as(Urgency.TAKEN):
            await self._show(words)

    async def _show(self, words: str) -> None:
        if await self._found():
            await self._edit(Post(content=words))
            return
        place = await self._places.open(self._question)
        nonce = f"l{self._number % 10}.{self._question.message_id}"
        self._may_be_there = True
        sent = await self._rest.send_and_read(
            place.channel_id, Post(content=words), nonce=nonce, reply_to=place.reply_to
        )
        self._may_be_there = False
        # A nonce that Discord knows gives the message of long ago, which is an answer by now.
        if PROGRESS.search(sent.content):
            self._at = (place.channel_id, sent.id)

    async def remove(self) -> None:
        if await self._found() and self._at is not None:
            await self._rest.delete(*self._at)
            self._at = None

    async def become(self, post: Post) -> str | None:
        """Show this instead, for good; the message's id, or None where there is no such line."""
        if not await self._found() or self._at is None:
            return None
        try:
            await self._edit(post)
        except DiscordRefused as refusal:
            if refusal.code not in GONE:
                raise
            self._at = None
            return None
        return self._at[1]

    async def _edit(self, post: Post) -> None:
        assert self._at is not None
        await self._rest.edit(*self._at, post)

    async def _found(self) -> bool:
        if self._at is None and self._may_be_there:
            self._at = await self._look()
            self._may_be_there = False
        return self._at is not None

    async def _look(self) -> tuple[str, str] | None:
        for place in self._places.known(self._question):
            for sent in await self._rest.newest_if_any(place.channel_id):
                ours = sent.author_id == self._rest.own_id and sent.reply_to == place.reply_to
                later = int(sent.id) > int(self._question.message_id)
                if ours and later and PROGRESS.search(sent.content):
                    return place.channel_id, sent.id
        return None


class TicketLine:
    """Where a command's answer was announced; the answer itself takes its place."""

    rest_seconds = 0.0

    def __init__(self, question: IncomingQuestion, *, tickets: TicketRest) -> None:
        self._ticket = ticket_for(question)
        self._tickets = tickets

    async def turn(self, *, first: bool) -> None:
        """Answers to commands have their own limits."""

    async def show(self, words: str) -> None:
        await self._tickets.write(self._ticket, words)

    async def remove(self) -> None:
        """Nothing is left when the answer is written."""


class Lines:
    """One line a question, from its first word until its answer takes its place."""

    def __init__(self, rest: DiscordRest, places: AnswerPlaces) -> None:
        self._rest = rest
        self._places = places
        self._began = datetime.now(UTC)
        self._made: OrderedDict[str, int] = OrderedDict()
        """How many lines each question has had: an answer that is made anew has another."""
        self._known: OrderedDict[str, MessageLine] = OrderedDict()

    def of(self, question: IncomingQuestion) -> MessageLine:
        known = self._known.get(question.message_id)
        if known is not None:
            return known
        ours = question.heard_at > max(self._began, datetime.now(UTC) - NONCE_HOLDS)
        number = self._made.pop(question.message_id, -1) + 1
        self._made[question.message_id] = number
        line = self._known[question.message_id] = MessageLine(
            question,
            rest=self._rest,
            places=self._places,
            number=number,
            may_be_there=not ours,
        )
        for kept in (self._known, self._made):
            while len(kept) > REMEMBERED:
                kept.popitem(last=False)
        return line

    async def become(self, question: IncomingQuestion, post: Post) -> str | None:
        """Turn the line into the first part of the answer."""
        message_id = await self.of(question).become(post)
        self._known.pop(question.message_id, None)
        return message_id

    async def end(self, question: IncomingQuestion) -> None:
        """No answer takes its place; one that a process that is gone has left is looked for."""
        await self.of(question).remove()
        self._known.pop(question.message_id, None)

    async def clear(self, message_id: str) -> None:
        """Nothing will be answered there any more. Best effort."""
        line = self._known.pop(message_id, None)
        if line is None:
            return
        try:
            await line.remove()
        except UpstreamError as error:
            log.info("a progress line may be left", extra={"cause": str(error)})
