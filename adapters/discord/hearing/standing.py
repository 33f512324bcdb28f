"""Whether a message that does not name us is for us all the same."""

from __future__ import annotations

from adapters.discord.hearing.channels import Spot
from adapters.discord.hearing.events import Heard
from adapters.platform import KnowsThreads
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
    """Knows the threads that are ours and the channels that opted in."""

    def __init__(
        self, *, threads: KnowsThreads, muted: MutedThreads, policies: KnowsPolicies | None
    ) -> None:
        self._threads = threads
        self._muted = muted
        self._policies = policies

    async def is_for_us(self, heard: Heard) -> bool:
        if heard.addressed:
            return True
        spot = heard.spot
        if not spot.is_thread or heard.begins_post:
            return await self._opted_in(spot)
        if await self._muted.is_muted(spot.writes):
            return False
        if heard.in_own_thread:
            return True
        # In a post of a forum others help too: there only who began it goes on asking us.
        mine = heard.by_owner or not spot.is_post
        return mine and await self._threads.answered_in(heard.question.key)

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


def _name(thread_id: str) -> str:
    return f"muted:discord:{thread_id}"
