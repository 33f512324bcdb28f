"""The facts of a Slack message by which it is decided whether the bot answers it."""

from __future__ import annotations

from collections.abc import Collection

from adapters.answer_policy import MessageFacts, Place
from adapters.answered_threads import Began
from adapters.never_mind import is_never_mind
from adapters.platform import KnowsThreads
from adapters.slack.hearing.events import Heard
from adapters.thread_talk import ThreadTalk
from rag_core.agent.requests import asks_something, is_acknowledgement
from rag_core.books.rules import KnowsPolicies


class Standing:
    """Knows the threads that the bot answered in, the channels that opted in, and the bots that
    may ask."""

    def __init__(
        self,
        *,
        threads: KnowsThreads,
        talk: ThreadTalk,
        policies: KnowsPolicies | None = None,
        allowed_bots: Collection[str] = (),
    ) -> None:
        self._threads = threads
        self._talk = talk
        self._policies = policies
        self._allowed_bots = frozenset(allowed_bots)

    async def facts_of(self, heard: Heard) -> MessageFacts:
        question = heard.question
        key, author = question.key, question.asker_id
        began = await self._threads.find(key) if heard.in_thread else None
        place = self._place_of(heard, began)
        return MessageFacts(
            place=place,
            is_addressed=heard.addressed,
            is_empty=not (heard.text or heard.files),
            asks=asks_something(heard.text),
            acknowledges=is_acknowledgement(heard.text) and not heard.files,
            takes_back=is_never_mind(heard.text),
            is_for_somebody_else=heard.is_for_somebody_else,
            is_from_bot=heard.from_bot,
            is_allowed_bot=not heard.bot_ids.isdisjoint(self._allowed_bots),
            auto_answer=place is Place.CHANNEL
            and not heard.addressed
            and await self._has_opted_in(heard),
            was_answered_here=began is not None,
            asked_here=self._talk.has_asked(key, author),
            has_others=self._talk.has_others(key, author),
        )

    def _place_of(self, heard: Heard, began: Began | None) -> Place:
        if heard.is_direct:
            return Place.DIRECT
        if not heard.in_thread:
            return Place.CHANNEL
        is_own = began is Began.WITH_QUESTION or self._talk.began_with_question(heard.question.key)
        return Place.OWN_THREAD if is_own else Place.PEOPLES_THREAD

    async def _has_opted_in(self, heard: Heard) -> bool:
        if self._policies is None:
            return False
        key = heard.question.key
        policy = await self._policies.policy_for(
            platform=key.platform, tenant=key.tenant, channel_id=key.channel_id
        )
        return bool(policy.auto_answer)
