"""What was asked in vain, kept in groups that grow as questions come in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID
from zlib import crc32

from rag_core.agent.language.words import content, says_something, words
from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import FootnoteError
from rag_core.insight.arranging import arranged
from rag_core.insight.gap import Gap, GapState, Member, Placed, Unanswered
from rag_core.ports import Embedder

log = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 60.0
NEW_AT_ONCE = 200
"""How many questions are placed in one go; what is left is placed in the next."""


class GapStore(Protocol):
    """The questions in vain, and the groups that they were placed in."""

    async def unplaced(self, *, limit: int) -> Sequence[Unanswered]:
        """Those that nobody has looked at yet."""
        ...

    async def members(self) -> Sequence[Member]:
        """Those that have a group, the newest first, up to a bound."""
        ...

    async def member_questions(self) -> Mapping[UUID, str]:
        """What the members asked, by the answers' ids."""
        ...

    async def model(self) -> str | None:
        """The embedding model of the members' vectors, as far as it was noted."""
        ...

    async def place(self, placed: Sequence[Placed], *, opened: Sequence[UUID], model: str) -> None:
        """Put questions, whose vectors are this model's, into groups, opening these groups; a group
        without questions goes."""
        ...

    async def listed(
        self,
        *,
        platform: Platform | None = None,
        tenant: TenantId | None = None,
        books: BookIds | None = None,
        states: Sequence[GapState] = (),
        limit: int = 50,
    ) -> Sequence[Gap]:
        """The most asked first; with books, of the questions that were looked up in these alone."""
        ...

    async def is_within(self, gap_id: UUID, *, books: BookIds) -> bool:
        """Whether all questions of the gap were looked up in these books alone."""
        ...

    async def set_state(self, gap_id: UUID, state: GapState) -> bool: ...


class Gaps:
    """Looks for new questions in vain, places them, and tells what is missing."""

    def __init__(
        self,
        *,
        store: GapStore,
        embedder: Embedder,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._now = now
        self._placing = asyncio.Lock()

    async def run(self) -> None:
        """Look every minute, until cancelled."""
        while True:
            try:
                await self.refresh()
            except FootnoteError as error:
                log.warning("gaps not brought up to date", extra={"cause": type(error).__name__})
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    async def refresh(self) -> None:
        """Place every question that nobody has looked at yet."""
        async with self._placing:
            while new := await self._store.unplaced(limit=NEW_AT_ONCE):
                await self._place(new)

    async def listed(
        self,
        *,
        platform: Platform | None = None,
        tenant: TenantId | None = None,
        books: BookIds | None = None,
        states: Sequence[GapState] = (),
        limit: int = 50,
    ) -> Sequence[Gap]:
        """The gaps, the most asked first: of one server or workspace, of some books, or all."""
        return await self._store.listed(
            platform=platform, tenant=tenant, books=books, states=states, limit=limit
        )

    async def set_state(
        self, gap_id: UUID, state: GapState, *, books: BookIds | None = None
    ) -> bool:
        """False: there is no such gap (any more), or not in these books alone."""
        if books is not None and not await self._store.is_within(gap_id, books=books):
            return False
        return await self._store.set_state(gap_id, state)

    async def _place(self, new: Sequence[Unanswered]) -> None:
        searched = [question for question in new if question.searched]
        vectors = await meanings(self._embedder, [question.question for question in searched])
        fresh = [
            Placed(
                answer_id=question.answer_id,
                gap_id=None,
                asked_at=question.asked_at,
                vector=vector,
                terms=terms(question.question),
            )
            for question, vector in zip(searched, vectors, strict=True)
        ]
        known = await self._members()
        placed, opened = await asyncio.to_thread(arranged, fresh, known)
        passed = [
            Placed(answer_id=question.answer_id, gap_id=None, asked_at=question.asked_at)
            for question in new
            if not question.searched
        ]
        await self._store.place([*placed, *passed], opened=opened, model=self._embedder.model)
        await self._reopen(fresh, placed, known)
        log.info("questions placed", extra={"questions": len(new), "gaps_opened": len(opened)})

    async def _members(self) -> Sequence[Member]:
        """Those that have a group. Vectors of another model are made anew: vectors of two models
        cannot be compared."""
        members = await self._store.members()
        if not members or await self._store.model() == self._embedder.model:
            return members
        questions = await self._store.member_questions()
        there = [member for member in members if member.placed.answer_id in questions]
        vectors = await meanings(self._embedder, [questions[m.placed.answer_id] for m in there])
        return [
            replace(member, placed=replace(member.placed, vector=vector))
            for member, vector in zip(there, vectors, strict=True)
        ]

    async def _reopen(
        self, fresh: Sequence[Placed], placed: Sequence[Placed], known: Sequence[Member]
    ) -> None:
        """Who answered a gap and is asked again after that has not answered it."""
        since = {m.gap_id: m.changed_at for m in known if m.state is GapState.ANSWERED}
        new = {question.answer_id for question in fresh}
        again = {
            question.gap_id
            for question in placed
            if question.answer_id in new
            and question.gap_id in since
            and question.asked_at > since[question.gap_id]
        }
        for gap_id in again - {None}:
            assert gap_id is not None
            await self._store.set_state(gap_id, GapState.OPEN)


async def meanings(embedder: Embedder, questions: Sequence[str]) -> list[tuple[float, ...]]:
    """What each question is about: as it stands and by its bare words, which count alike."""
    whole = await embedder.embed_documents(questions)
    core = await embedder.embed_documents(list(map(bare, questions)))
    return [
        tuple(one + other for one, other in zip(*pair, strict=True))
        for pair in zip(whole, core, strict=True)
    ]


def bare(question: str) -> str:
    """The words that carry meaning: how a question is framed says nothing of its topic."""
    return " ".join(word for word in words(question) if says_something(word)) or question


def terms(question: str) -> tuple[int, ...]:
    """What it is about, word by word, so that shared words are seen and none can be read."""
    return tuple(crc32(stem.encode()) for stem in content(question))
