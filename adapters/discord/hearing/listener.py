"""What happens to a message: the desk has it before anybody is told anything."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import discord

from adapters.answer_policy import AnswerPolicy, Decision, Place
from adapters.discord.acting.keeping import Keeping
from adapters.discord.answering.post import Post
from adapters.discord.gateway.patience import NOT_TAKEN, in_hand
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.hearing.afterthoughts import Afterthoughts
from adapters.discord.hearing.entrance import Entrance
from adapters.discord.hearing.events import (
    Heard,
    Rules,
    Unasked,
    is_addressed,
    may_ask,
    names,
    read,
)
from adapters.discord.hearing.files import FileReader, is_text
from adapters.discord.hearing.readers import Readers
from adapters.discord.hearing.servers import Servers
from adapters.discord.hearing.standing import Standing, place_of
from adapters.discord.hearing.threads import ThreadReader
from adapters.never_mind import is_never_mind
from adapters.platform import AcceptsQuestions
from adapters.refusals import RefusalPace, refusal_sentence
from adapters.thread_talk import ThreadTalk
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import StorageError, UpstreamError

log = logging.getLogger(__name__)

REMEMBERED = 10_000


class Listener:
    """Hands every question to the desk, and says so where it could not."""

    def __init__(
        self,
        *,
        desk: AcceptsQuestions,
        standing: Standing,
        files: FileReader,
        rest: DiscordRest,
        afterthoughts: Afterthoughts,
        entrance: Entrance,
        readers: Readers,
        talk: ThreadTalk,
        policy: AnswerPolicy,
        threads: ThreadReader,
        rules: Rules,
        pauses: tuple[float, ...],
        servers: Servers,
        keeping: Keeping | None = None,
    ) -> None:
        self._desk = desk
        self._standing = standing
        self._files = files
        self._rest = rest
        self._afterthoughts = afterthoughts
        self._entrance = entrance
        self._readers = readers
        self._talk = talk
        self._policy = policy
        self._threads = threads
        self._rules = rules
        self._pauses = pauses
        self._servers = servers
        self._keeping = keeping
        self._heard: OrderedDict[int, None] = OrderedDict()
        self._told: set[tuple[int, int]] = set()
        """Who was told already, and where, that nothing is taken."""
        self._refusals = RefusalPace()

    async def hear(self, message: discord.Message, *, me: discord.abc.User) -> None:
        self._note(message.id)
        if not await self._is_admitted(message, me):
            return
        with self._entrance.coming(str(message.id)):
            await self._take(message, me)

    async def _is_admitted(self, message: discord.Message, me: discord.abc.User) -> bool:
        """Whoever turns to us on a server that is not allowed is told so; nothing else is done."""
        guild, asks = message.guild, may_ask(message, me, self._rules)
        if guild is None and not asks:
            return False
        guild_id = guild.id if guild is not None else None
        if await self._servers.admits(message.author, guild_id=guild_id, guild=guild):
            return True
        if asks and is_addressed(message, me):
            await self._servers.tell(message)
        return False

    async def _take(self, message: discord.Message, me: discord.abc.User) -> None:
        heard = read(message, me=me, at=datetime.now(UTC), rules=self._rules)
        if isinstance(heard, Heard) and not heard.bot_id:
            await self._stand_down(heard)
        if self._keeping is not None and await self._keeping.heard(message, me=me):
            return
        heard = await self._read_further(heard, message, me)
        if isinstance(heard, Unasked):
            await self._say(heard.channel_id, heard.message_id, heard.reason)
        elif heard is not None:
            await self._hand_in(heard, message)

    async def hear_late(self, message: discord.Message, *, me: discord.abc.User | None) -> None:
        """What was written while nobody listened; what was heard then is not heard again."""
        if me is not None and message.id not in self._heard:
            await self.hear(message, me=me)

    async def edit(self, message: discord.Message, *, me: discord.abc.User) -> None:
        guild_id = message.guild.id if message.guild is not None else None
        if not await self._servers.admits(message.author, guild_id=guild_id, guild=message.guild):
            return
        if self._keeping is not None:
            await self._keeping.edited(message, me=me)
        now = datetime.now(UTC)
        heard = read(message, me=me, at=now, rules=self._rules)
        heard = await self._read_further(heard, message, me)
        if not isinstance(heard, Heard):
            return
        question = heard.question
        if is_never_mind(heard.text):
            await self._afterthoughts.withdrawn(question.identity, asker_id=question.asker_id)
        else:
            await self._afterthoughts.edited(
                question.message_id, lambda: self._with_reader(heard, message)
            )

    async def delete(self, channel: Any, message_ids: Iterable[int]) -> None:
        gone = list(message_ids)
        if self._keeping is not None:
            await self._keeping.deleted(channel, gone)
        await self._afterthoughts.deleted(channel, gone)

    def forget(self, asker_id: str | None) -> None:
        """Drop what is remembered of one person's questions, or of everybody's."""
        self._talk.forget(asker_id)
        self._refusals.forget(asker_id)
        self._afterthoughts.forget(asker_id)

    def _note(self, message_id: int) -> None:
        self._heard[message_id] = None
        while len(self._heard) > REMEMBERED:
            self._heard.popitem(last=False)

    async def _read_further(
        self, heard: Heard | Unasked | None, message: discord.Message, me: discord.abc.User
    ) -> Heard | Unasked | None:
        """The message with its files and its thread, where somebody turned to us or to a place of
        ours: nothing else is fetched."""
        has_text_file = any(is_text(file) for file in message.attachments)
        if heard is None or (isinstance(heard, Unasked) and not has_text_file):
            return heard
        if isinstance(heard, Heard) and not await self._may_be_for_us(heard):
            return heard
        called = isinstance(heard, Heard) and place_of(heard) is Place.PEOPLES_THREAD
        talk = await self._threads.read(message, me) if called and names(message, me) else []
        files = await self._files.read(message.attachments) if message.attachments else None
        now = datetime.now(UTC)
        return read(message, me=me, at=now, rules=self._rules, files=files, talk=talk)

    async def _may_be_for_us(self, heard: Heard) -> bool:
        try:
            return (await self._decide(heard)).answers
        except StorageError:
            return True  # handing it in will fail the same way, and be tried again

    async def _decide(self, heard: Heard) -> Decision:
        return self._policy.decide(await self._standing.facts_of(heard), heard.question)

    async def _hand_in(self, heard: Heard, message: discord.Message) -> None:
        """A question that the desk does not take is one that somebody waits for."""
        decision = Decision.ANSWER if heard.addressed else Decision.IGNORE
        refusal = ""

        async def hand_in() -> None:
            nonlocal decision, refusal
            async with self._entrance.turn():
                decision = await self._decide(heard)
                if decision.answers:
                    refusal = await self._accept(heard, message, decision)

        in_time = await in_hand(hand_in, pauses=self._pauses, message_id=heard.question.message_id)
        if decision is Decision.TAKE_BACK:
            await self._afterthoughts.never_mind(message, heard)
        elif decision.answers and not in_time:
            await self._say_once(message)
        elif refusal and not heard.bot_id and self._refusals.allows(heard.question):
            await self._say(str(message.channel.id), str(message.id), refusal)

    async def _accept(self, heard: Heard, message: discord.Message, decision: Decision) -> str:
        """Why the question is not answered, where the desk does not tell its asker."""
        question = await self._with_reader(heard, message)
        may_stand_down = decision is Decision.ANSWER_UNLESS_A_PERSON_DOES
        self._talk.ask(question, may_be_answered_by_others=may_stand_down)
        receipt = await self._desk.accept(question)
        self._afterthoughts.asked(question)
        self._told.clear()
        return refusal_sentence(receipt, locale=question.locale)

    async def _with_reader(self, heard: Heard, message: discord.Message) -> IncomingQuestion:
        reader = await self._readers.profile(message.author, heard.spot.tenant)
        return replace(heard.question, reader=reader)

    async def _stand_down(self, heard: Heard) -> None:
        """A question that another person answers first is not answered any more."""
        answered = self._talk.hear(
            heard.question,
            text="" if heard.addressed else heard.text,
            in_thread=heard.spot.is_thread and not heard.spot.is_direct,
            replies_to=heard.replies_to,
        )
        for identity in answered:
            await self._afterthoughts.withdrawn(identity)

    async def _say_once(self, message: discord.Message) -> None:
        asker = (message.channel.id, message.author.id)
        if asker not in self._told and len(self._told) < REMEMBERED:
            self._told.add(asker)
            await self._say(str(message.channel.id), str(message.id), NOT_TAKEN)

    async def _say(self, channel_id: str, message_id: str, sentence: str) -> None:
        try:
            await self._rest.send(
                channel_id, Post(content=sentence), nonce=f"why{message_id}", reply_to=message_id
            )
        except UpstreamError as error:
            log.warning("nothing could be said", extra={"cause": str(error)})
