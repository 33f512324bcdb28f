"""Offers replies of the staff to be kept, keeps them, and takes them back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import NAMESPACE_URL, UUID, uuid5

from rag_core.books.policy import ChannelPolicy
from rag_core.books.rules import KnowsRules
from rag_core.conversation.key import ConversationKey
from rag_core.desk.incoming import MessageIdentity
from rag_core.errors import InvalidQuestion
from rag_core.ports import Embedder
from rag_core.staff.answer import (
    MAX_NAME,
    MAX_QUESTION,
    MAX_TEXT,
    Keeping,
    Refused,
    StaffAnswer,
    StaffReply,
    may_answer,
    one_line,
    with_vector,
)
from rag_core.staff.store import StaffAnswerStore
from rag_core.text.visible import visible

log = logging.getLogger(__name__)

OPEN_FOR = timedelta(days=7)
"""An offer that nobody took is forgotten after that."""
NOT_THERE = "This answer is not stored any more."


class MarksChanges(Protocol):
    """The ledger, as far as answers cite what is gone."""

    async def mark_changed(self, chunk_ids: Sequence[str]) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What came of a wish: the answer as it stands now."""

    answer: StaffAnswer
    changed: bool
    """False: it was so already."""


class Staffing:
    """A staff answer is offered once, kept once, and changed and withdrawn with its message."""

    def __init__(
        self,
        *,
        store: StaffAnswerStore,
        library: KnowsRules,
        ledger: MarksChanges,
        embedder: Embedder,
        kept_for: timedelta,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._library = library
        self._ledger = ledger
        self._embedder = embedder
        self._kept_for = kept_for
        self._now = now

    async def refused_in(self, key: ConversationKey) -> Refused | None:
        """The question that a reply in this thread would help out with."""
        return await self._store.refused_in(key)

    async def offer(self, said: StaffReply, refused: Refused | None) -> StaffAnswer | None:
        """Note a reply that may be kept; None where it is no answer, or where its place reads no
        book that the operator bound there.

        A message is offered once: a repeat gives what is known of it."""
        if not may_answer(said.text):
            return None
        known = await self._store.at(said.identity)
        if known is not None:
            return known
        rules = await self._library.rules_for(
            platform=said.key.platform,
            tenant=said.key.tenant,
            channel_id=said.key.channel_id,
            category_id=said.category_id,
        )
        bound = [book for book in rules.books or () if book in rules.audience.bound_books]
        if not bound:
            return None
        offered = self._noted(said, refused, book_id=bound[0], policy=rules.policy)
        await self._store.add(offered)
        return await self._store.at(said.identity)

    def _noted(
        self, said: StaffReply, refused: Refused | None, *, book_id: str, policy: ChannelPolicy
    ) -> StaffAnswer:
        now = self._now()
        return StaffAnswer(
            id=uuid5(NAMESPACE_URL, repr(said.identity)),
            identity=said.identity,
            question_id=refused.question_id if refused else None,
            question=one_line(refused.question, MAX_QUESTION) if refused else "",
            text=visible(said.text)[:MAX_TEXT],
            author_id=said.author_id,
            author=one_line(said.author, MAX_NAME) or "staff",
            link=said.link,
            book_id=book_id,
            modules=tuple(policy.modules),
            released_at=max(said.said_at, policy.released_at or said.said_at),
            said_at=said.said_at,
            changed_at=now,
            expires_at=now + OPEN_FOR,
        )

    async def keep(self, answer_id: UUID, *, by: str) -> Kept:
        """From now on it is found; twice is once."""
        answer = await self._stored(answer_id)
        if answer.is_found_at(self._now()):
            return Kept(answer=answer, changed=False)
        now = self._now()
        kept = await self._embedded(
            replace(
                answer,
                keeping=Keeping.KEPT,
                kept_by=by,
                changed_at=now,
                expires_at=now + self._kept_for,
            )
        )
        await self._store.save(kept)
        log.info("a staff answer is kept", extra={"staff_answer": str(answer_id)})
        return Kept(answer=kept, changed=True)

    async def withdraw(self, answer_id: UUID) -> Kept:
        """It is found no more, and answers that cite it will say that a source changed."""
        return await self._withdrawn(await self._stored(answer_id))

    async def edited(self, identity: MessageIdentity, text: str) -> None:
        """The message says something else: so does the kept answer, in its own place alone, for
        the operator shared the words before. What can be no answer any more is withdrawn."""
        answer = await self._store.at(identity)
        new = visible(text)[:MAX_TEXT]
        if answer is None or answer.text == new:
            return
        if not may_answer(new):
            await self._withdrawn(answer)
            return
        await self._store.save(
            await self._embedded(replace(answer, text=new, changed_at=self._now(), shared_with=()))
        )
        await self._ledger.mark_changed([answer.chunk_id])

    async def deleted(self, identity: MessageIdentity) -> None:
        answer = await self._store.at(identity)
        if answer is not None:
            await self._withdrawn(answer)

    async def listed(self) -> Sequence[StaffAnswer]:
        return await self._store.all()

    async def get(self, answer_id: UUID) -> StaffAnswer | None:
        return await self._store.get(answer_id)

    async def tidy(self) -> None:
        """Forget offers that nobody took."""
        await self._store.drop_before(self._now() - OPEN_FOR)

    async def _withdrawn(self, answer: StaffAnswer) -> Kept:
        if answer.keeping is Keeping.WITHDRAWN:
            return Kept(answer=answer, changed=False)
        gone = replace(answer, keeping=Keeping.WITHDRAWN, changed_at=self._now(), shared_with=())
        await self._store.save(gone)
        await self._ledger.mark_changed([answer.chunk_id])
        log.info("a staff answer is withdrawn", extra={"staff_answer": str(answer.id)})
        return Kept(answer=gone, changed=True)

    async def _embedded(self, answer: StaffAnswer) -> StaffAnswer:
        if answer.keeping is not Keeping.KEPT:
            return answer
        return await with_vector(answer, self._embedder)

    async def _stored(self, answer_id: UUID) -> StaffAnswer:
        answer = await self._store.get(answer_id)
        if answer is None:
            raise InvalidQuestion("staff_answer", NOT_THERE)
        return answer
