"""Whether a message that was heard is for the bot."""

from __future__ import annotations

import logging
from collections.abc import Collection

from adapters.platform import KnowsThreads
from adapters.slack.hearing.bot_pace import BotPace
from adapters.slack.hearing.events import Heard
from rag_core.books.rules import KnowsPolicies

log = logging.getLogger(__name__)


class Standing:
    """Knows our own threads, the channels that opted in, and the bots that may ask."""

    def __init__(
        self,
        *,
        threads: KnowsThreads,
        policies: KnowsPolicies | None = None,
        allowed_bots: Collection[str] = (),
    ) -> None:
        self._threads = threads
        self._policies = policies
        self._allowed_bots = frozenset(allowed_bots)
        self._pace = BotPace()

    async def is_for_us(self, heard: Heard) -> bool:
        if heard.from_bot and not heard.bot_ids & self._allowed_bots:
            return False
        if not heard.addressed and not await self._is_followed(heard):
            return False
        if heard.from_bot and not self._pace.allows(heard.question):
            log.info("another bot asks too often", extra={"channel": heard.question.key.channel_id})
            return False
        return True

    async def is_own_thread(self, heard: Heard) -> bool:
        return heard.in_thread and await self._threads.answered_in(heard.question.key)

    async def _is_followed(self, heard: Heard) -> bool:
        """In our own threads all that is said to nobody else; in channels that opted in, what
        is asked."""
        if heard.for_others or not (heard.text or heard.files):
            return False
        if heard.in_thread:
            return await self._threads.answered_in(heard.question.key)
        return heard.asks and await self._has_opted_in(heard)

    async def _has_opted_in(self, heard: Heard) -> bool:
        if self._policies is None:
            return False
        key = heard.question.key
        policy = await self._policies.policy_for(
            platform=key.platform, tenant=key.tenant, channel_id=key.channel_id
        )
        return bool(policy.auto_answer)
