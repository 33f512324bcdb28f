"""What a press on a button below an answer does, the same on every platform."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from adapters.closed_passages import ClosedPassages
from adapters.platform import RevisesQuestions
from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.incoming import MessageIdentity
from rag_core.desk.notices import notices_in
from rag_core.errors import DeskFull, InvalidQuestion, StorageError
from rag_core.ports import FeedbackStore, MarkerStore

log = logging.getLogger(__name__)

THANKS = "Thank you, noted."
THANKS_FOR_REASON = "Thank you, noted: the people who look after the documents will see it."
NOT_STORED = "This answer is not stored any more."
NOT_OPEN = "This answer rests on documents that are not open here any more."
NOT_SAVED = "I could not reach my database just now. Please try again in a minute."
NOT_YOURS = "Only the person who asked can delete this answer."
ASKED_AGAIN = "I am looking at the documents again: the new answer takes the place of this one."
CALLED_BEFORE = "A person was asked already."


class KnowsAnswers(Protocol):
    """The ledger, as buttons see it."""

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None: ...


@dataclass(slots=True)
class Problem:
    """What went wrong, in words for the person; None as long as nothing did."""

    sentence: str | None = None


class Review:
    """Rates, shows, deletes and renews answers; says in one sentence what came of it."""

    def __init__(
        self,
        *,
        answers: KnowsAnswers,
        feedback: FeedbackStore,
        desk: RevisesQuestions,
        markers: MarkerStore,
        closed: ClosedPassages | None = None,
    ) -> None:
        self._closed = closed
        self._answers = answers
        self._feedback = feedback
        self._desk = desk
        self._markers = markers
        self._calling = asyncio.Lock()
        self._called: set[str] = set()
        """Calls of this process: one that was made counts even where it could not be noted."""

    async def rate(self, answer_id: UUID, *, asker_id: str, helpful: bool, reason: str = "") -> str:
        with told_in_words() as problem:
            await self._feedback.rate(
                answer_id=answer_id, asker_id=asker_id, helpful=helpful, reason=reason
            )
        return problem.sentence or (THANKS_FOR_REASON if reason else THANKS)

    async def shown(
        self, answer_id: UUID, *, platform: Platform, tenant: TenantId, category_id: str = ""
    ) -> AgentResponse | str:
        """The answer, for its evidence; no server's button shows what another one was answered,
        and none shows passages of a book that was closed meanwhile."""
        shown: AgentResponse | str = NOT_STORED
        with told_in_words() as problem:
            found = await self._answers.answer(answer_id)
            if found is not None and (found[1].platform, found[1].tenant) == (platform, tenant):
                shown, key = found
                if await self._cites_closed(shown, key, category_id):
                    shown = NOT_OPEN
        return problem.sentence or shown

    async def _cites_closed(
        self, response: AgentResponse, key: ConversationKey, category_id: str
    ) -> bool:
        if self._closed is None:
            return False
        return await self._closed.are_cited(response, key, category_id=category_id)

    async def delete(self, identity: MessageIdentity, *, asker_id: str) -> str | None:
        """Take the answer to this message away; a sentence where that was refused."""
        withdrawn = False
        with told_in_words() as problem:
            withdrawn = await self._desk.withdraw(identity, asker_id=asker_id)
        return problem.sentence or (None if withdrawn else NOT_YOURS)

    async def ask_again(self, answer_id: UUID, *, asker_id: str) -> str:
        again = None
        with told_in_words() as problem:
            again = await self._desk.ask_again(answer_id, asker_id=asker_id)
        if problem.sentence or again is None:
            return problem.sentence or NOT_STORED
        if again.refusal is None:
            return ASKED_AGAIN
        return notices_in("en").of(again.refusal, retry_at=again.retry_at)

    async def call_a_person(
        self, answer_id: UUID, call: Callable[[], Awaitable[None]]
    ) -> str | None:
        """Make the call once for an answer, however often it is asked for; a sentence where it
        was not made. What `call` raises is the caller's, and leaves the way open to try again."""
        name = f"called:{answer_id}"
        with told_in_words() as problem:
            async with self._calling:
                if name in self._called or await self._markers.get(name) is not None:
                    return CALLED_BEFORE
                await call()
                self._called.add(name)
                await self._markers.set(name, "called")
        return problem.sentence


@contextmanager
def told_in_words() -> Iterator[Problem]:
    problem = Problem()
    try:
        yield problem
    except InvalidQuestion:
        problem.sentence = NOT_STORED
    except (DeskFull, StorageError) as error:
        log.error("a button did not take effect", extra={"cause": str(error)})
        problem.sentence = NOT_SAVED
