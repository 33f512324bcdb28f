"""The facts of a Discord message by which it is decided whether the bot answers it."""

from __future__ import annotations

from collections.abc import Collection

from adapters.answer_policy import MessageFacts, Place
from adapters.discord.hearing.channels import Spot
from adapters.discord.hearing.events import Heard
from adapters.never_mind import is_never_mind
from adapters.platform import KnowsThreads
from adapters.thread_talk import ThreadTalk
from rag_core.agent.requests import asks_something, is_acknowledgement
from rag_core.books.rules import KnowsPolicies
from rag_core.conversation.key import Platform
from rag_core.ports import MarkerStore

MUTED, OPEN = "muted", "open"


class MutedThreads:
    """Threads in which we speak only when we are spoken to."""

    def __init__(self, markers: MarkerStore) -> None:
        self._markers = markers

    async def is_muted(self, thread_id: str) -> bool:
        said = await self._markers.get(_name(thread_id))
        return bool(said) and str(said).startswith(MUTED)

    async def switch(self, thread_id: str, *, by: str) -> bool:
        """The other way round; whether it is muted now. A command that a resumed session repeats
        switches once."""
        muted = await self.is_muted(thread_id)
        if str(await self._markers.get(_name(thread_id))).endswith(f" {by}"):
            return muted
        await self._markers.set(_name(thread_id), f"{OPEN if muted else MUTED} {by}")
        return not muted


class Standing:
    """Knows the threads that the bot answered in, the channels that opted in, the threads that
    are muted, and the bots that may ask."""

    def __init__(
        self,
        *,
        threads: KnowsThreads,
        talk: ThreadTalk,
        muted: MutedThreads,
        policies: KnowsPolicies | None,
        allowed_bots: Collection[str] = (),
    ) -> None:
        self._threads = threads
        self._talk = talk
        self._muted = muted
        self._policies = policies
        self._allowed_bots = frozenset(allowed_bots)

    async def facts_of(self, heard: Heard) -> MessageFacts:
        spot, question = heard.spot, heard.question
        key, author = question.key, question.asker_id
        place = place_of(heard)
        looks = not heard.addressed
        in_thread = place in {Place.OWN_THREAD, Place.PEOPLES_THREAD}
        among_people = looks and place is Place.PEOPLES_THREAD
        answered = among_people and await self._threads.find(key) is not None
        return MessageFacts(
            place=place,
            is_addressed=heard.addressed,
            is_empty=heard.is_empty,
            asks=asks_something(heard.text),
            acknowledges=is_acknowledgement(heard.text),
            takes_back=is_never_mind(heard.text),
            is_for_somebody_else=heard.is_for_somebody_else,
            is_from_bot=bool(heard.bot_id),
            is_allowed_bot=heard.bot_id in self._allowed_bots,
            is_muted=looks and in_thread and await self._muted.is_muted(spot.writes),
            auto_answer=looks
            and place in {Place.CHANNEL, Place.NEW_POST}
            and await self._opted_in(spot),
            was_answered_here=answered,
            asked_here=(heard.by_owner and spot.is_post) or self._talk.has_asked(key, author),
            has_others=self._talk.has_others(key, author),
        )

    async def _opted_in(self, spot: Spot) -> bool:
        if self._policies is None:
            return False
        policy = await self._policies.policy_for(
            platform=Platform.DISCORD,
            tenant=spot.tenant,
            channel_id=spot.reads,
            category_id=spot.category_id,
        )
        return bool(policy.auto_answer)


def place_of(heard: Heard) -> Place:
    if heard.spot.is_direct:
        return Place.DIRECT
    if heard.begins_post:
        return Place.NEW_POST
    if not heard.spot.is_thread:
        return Place.CHANNEL
    return Place.OWN_THREAD if heard.in_own_thread else Place.PEOPLES_THREAD


def _name(thread_id: str) -> str:
    return f"muted:discord:{thread_id}"
