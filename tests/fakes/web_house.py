"""A whole small house behind the web door: a desk that answers, and stores in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from adapters.web.parts import Readiness, WebParts
from adapters.web.renderer import WebRenderer
from adapters.web.reply import WebReplies
from rag_core.agent.answer import AgentResponse
from rag_core.books.audience import Audience
from rag_core.books.book import Book, BookIds
from rag_core.books.bounds import bounded
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.books.rules import Rules
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.message import Message
from rag_core.conversation.state import ConversationState, RetrievalRecord, is_within_books
from rag_core.desk.asked import AskedQuestion
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import InvalidQuestion, StorageError
from rag_core.ingestion.job import (
    IngestionJob,
    IngestionRecord,
    IngestionState,
    JobStatus,
)
from rag_core.ingestion.pipeline import IngestionRequest
from rag_core.insight.gap import Gap, GapState
from rag_core.insight.stats import ChannelTally, DayTally, Stats, Tally, Waiting
from rag_core.insight.story import Rating, Story, StoryLine
from rag_core.ports.sessions import SignIn
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult
from tests.fakes.tickets import MemoryTickets
from tests.fakes.web_values import START, a_response, a_result

Answerer = Callable[[IncomingQuestion, Progress], Awaitable[AgentResponse]]


async def plain_answer(question: IncomingQuestion, progress: Progress) -> AgentResponse:
    """An answer that is written in three pieces."""
    await progress.stage(QuestionState.RETRIEVING)
    await progress.stage(QuestionState.GENERATING, "Writing…")
    for piece in ("A key may send ", "100 requests ", "[1]."):
        await progress.text(piece)
    return a_response(question)


@dataclass
class Entry:
    """A question in the ledger."""

    question_id: UUID
    question: IncomingQuestion
    state: QuestionState = QuestionState.PENDING
    response: AgentResponse | None = None


class MemoryLedger:
    """Questions and their answers, under their message identities."""

    def __init__(self) -> None:
        self.entries: dict[MessageIdentity, Entry] = {}
        self.broken = False

    async def accept(self, question: IncomingQuestion) -> Receipt:
        if self.broken:
            raise StorageError("the disk is gone: /secret/place")
        known = self.entries.get(question.identity)
        if known is not None:
            return Receipt(question_id=known.question_id, repeated=True)
        entry = Entry(question_id=uuid4(), question=question)
        self.entries[question.identity] = entry
        return Receipt(question_id=entry.question_id, repeated=False)

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None:
        for entry in self.entries.values():
            if entry.response is not None and entry.response.answer_id == answer_id:
                return entry.response, entry.question.key
        return None

    async def response_to(self, question_id: UUID) -> AgentResponse | None:
        entry = self._entry(question_id)
        return entry.response if entry else None

    async def state_of(self, question_id: UUID) -> QuestionState | None:
        entry = self._entry(question_id)
        return entry.state if entry else None

    async def asked_in(self, key: ConversationKey, *, limit: int = 100) -> Sequence[AskedQuestion]:
        own = [entry for entry in self.entries.values() if entry.question.key == key]
        return [
            AskedQuestion(
                question_id=entry.question_id,
                message_id=entry.question.message_id,
                message=entry.question.question.message,
                state=entry.state,
                heard_at=entry.question.heard_at,
                response=entry.response,
            )
            for entry in own[-limit:]
        ]

    def _entry(self, question_id: UUID) -> Entry | None:
        return next((e for e in self.entries.values() if e.question_id == question_id), None)


class MemoryConversations:
    """Threads with one open session each."""

    def __init__(self) -> None:
        self.states: dict[ConversationKey, ConversationState] = {}
        self.closed: dict[UUID, ConversationKey] = {}
        self.earlier: dict[UUID, ConversationState] = {}

    async def open(
        self, key: ConversationKey, *, model: str, max_turns: int, session_id: UUID | None = None
    ) -> ConversationState:
        if key not in self.states:
            self.states[key] = ConversationState(
                session_id=session_id or uuid4(),
                session_number=1,
                key=key,
                messages=(Message.system("Secret instructions.", at=START),),
                model=model,
                turn_count=0,
                created_at=START,
                updated_at=START,
            )
        return self.states[key]

    def add_turn(self, key: ConversationKey, question: str, answer: str) -> None:
        state = self.states[key]
        said = (
            Message.user(question, at=START),
            Message.assistant(answer, at=START, confidence=0.9),
        )
        self.states[key] = replace(
            state,
            messages=state.messages + said,
            turn_count=state.turn_count + 1,
            updated_at=state.updated_at + timedelta(seconds=1),
        )

    def start_session(self, key: ConversationKey) -> UUID:
        """A fresh session, as after too many turns."""
        old = self.states[key]
        self.closed[old.session_id] = key
        self.earlier[old.session_id] = old
        self.states[key] = replace(old, session_id=uuid4(), session_number=old.session_number + 1)
        return self.states[key].session_id

    async def find(self, session_id: UUID) -> ConversationState | None:
        if session_id in self.closed:
            return self.states.get(self.closed[session_id])
        return next((s for s in self.states.values() if s.session_id == session_id), None)

    async def read(self, session_id: UUID) -> ConversationState | None:
        return self.earlier.get(session_id) or await self.find(session_id)

    async def summarise(self, session_id: UUID, *, instead_of: str, summary: str) -> bool:
        state = await self.find(session_id)
        if state is None or state.topic_summary != instead_of:
            return False
        self.states[state.key] = replace(state, topic_summary=summary)
        return True

    async def history(self, session_id: UUID) -> Sequence[Message]:
        state = await self.find(session_id)
        return state.messages if state else ()

    async def recent(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, limit: int
    ) -> Sequence[ConversationState]:
        wanted = (platform, tenant, channel_id)
        own = [
            replace(state, messages=state.messages[:1])
            for key, state in self.states.items()
            if (key.platform, key.tenant, key.channel_id) == wanted
        ]
        return sorted(own, key=lambda state: state.updated_at, reverse=True)[:limit]

    async def archive_idle(self, *, idle_since: datetime) -> int:
        return 0

    async def delete(self, key: ConversationKey) -> None:
        self.states.pop(key, None)


class MemoryBooks:
    """The books there are."""

    def __init__(self, *books: Book) -> None:
        self.books = {book.book_id: book for book in books}

    async def save(self, book: Book) -> None:
        self.books[book.book_id] = book

    async def get(self, book_id: str) -> Book | None:
        return self.books.get(book_id)

    async def all(self) -> Sequence[Book]:
        return sorted(self.books.values(), key=lambda book: book.book_id)

    async def remove(self, book_id: str) -> None:
        self.books.pop(book_id, None)


class OneDefault:
    """A library whose default book is the same everywhere."""

    def __init__(self, default: str | None) -> None:
        self.default = default
        self.policy = ChannelPolicy()

    async def books_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str
    ) -> BookIds | None:
        return BookIds([self.default]) if self.default else None

    async def policy_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> ChannelPolicy:
        return self.policy

    async def filters_for(
        self,
        *,
        platform: Platform,
        tenant: TenantId,
        channel_id: str,
        asked: Filters | None = None,
    ) -> Filters:
        return bounded(asked or Filters(), self.policy, reader=None, at=START)

    async def rules_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> Rules:
        books = BookIds([self.default]) if self.default else None
        audience = Audience(platform=platform, tenant=tenant)
        return Rules(policy=self.policy, books=books, audience=audience)


class MemoryIndex:
    """Passages, found by any of their words."""

    def __init__(self, *passages: SearchResult) -> None:
        self.passages = list(passages)

    async def look_up(self, query: SearchQuery) -> SearchResponse:
        known = await self.modules(
            books=query.book_ids, filters=replace(query.filters, module=None)
        )
        if query.filters.module and query.filters.module not in known:
            listed = ", ".join(known)
            raise InvalidQuestion("module", f"module must be one of: {listed}.", allowed=listed)
        words = query.text.lower().split()
        found = [
            replace(passage, rank=rank)
            for rank, passage in enumerate(
                (
                    p
                    for p in self._of(query.book_ids)
                    if is_shown(p, query.filters) and any(word in p.text.lower() for word in words)
                ),
                start=1,
            )
        ][: query.limit]
        return SearchResponse(query=query, results=tuple(found), total_found=len(found))

    async def lesson(
        self, parent_doc_id: str, *, books: BookIds, filters: Filters
    ) -> Sequence[SearchResult]:
        own = [
            p for p in self._of(books) if p.parent_doc_id == parent_doc_id and is_shown(p, filters)
        ]
        return sorted(own, key=lambda passage: passage.chunk_index)

    async def modules(self, *, books: BookIds, filters: Filters) -> Sequence[str]:
        return sorted({p.module for p in self._of(books) if p.module and is_shown(p, filters)})

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]:
        return {p.chunk_id: p for p in self._of(books) if p.chunk_id in chunk_ids}

    async def texts(
        self, content_hashes: Collection[str], *, books: BookIds, limit: int
    ) -> Sequence[SearchResult]:
        return [p for p in self._of(books) if p.content_hash in content_hashes][:limit]

    def _of(self, books: BookIds) -> list[SearchResult]:
        return [passage for passage in self.passages if passage.book_id in books]


def is_shown(passage: SearchResult, filters: Filters) -> bool:
    due, out = filters.released_at, passage.metadata.get("released_at")
    return (not filters.modules or passage.module in filters.modules) and (
        due is None or not isinstance(out, datetime) or out <= due
    )


class MemoryJobs:
    """Ingestion jobs, and an ingestion that leaves them running."""

    def __init__(self) -> None:
        self.jobs: dict[UUID, IngestionJob] = {}

    async def start(self, request: IngestionRequest) -> IngestionJob:
        job = IngestionJob(
            job_id=uuid4(),
            book_id=request.book_id,
            mode=request.mode,
            status=JobStatus.QUEUED,
            started_at=START,
            sources=request.sources,
            base_url=request.base_url,
            site=request.site,
            title=request.title,
        )
        await self.save(job)
        return job

    async def cancel(self, job_id: UUID) -> bool:
        job = self.jobs.get(job_id)
        if job is None or job.status.is_over:
            return False
        self.jobs[job_id] = replace(job, status=JobStatus.CANCELLED, completed_at=START)
        return True

    async def save(self, job: IngestionJob) -> None:
        self.jobs[job.job_id] = job

    async def get(self, job_id: UUID) -> IngestionJob | None:
        return self.jobs.get(job_id)

    async def recent(
        self, *, limit: int = 50, books: BookIds | None = None
    ) -> Sequence[IngestionJob]:
        newest = list(self.jobs.values())[::-1]
        return [job for job in newest if books is None or job.book_id in books][:limit]

    async def unfinished(self) -> Sequence[IngestionJob]:
        return [job for job in self.jobs.values() if not job.status.is_over]

    async def state(self, book_id: str) -> IngestionState:
        return IngestionState(book_id=book_id, collection="documentation")

    async def record(self, book_id: str, record: IngestionRecord) -> None:
        raise NotImplementedError

    async def forget_file(self, book_id: str, source_file: str) -> None:
        raise NotImplementedError


class FixedStarters:
    """The same questions for the course on every visit."""

    def __init__(self, *questions: str) -> None:
        self.questions = questions

    async def of(self, books: BookIds) -> Sequence[str]:
        return self.questions if "course" in books else ()


class MemoryFeedback:
    """One rating an asker and answer."""

    def __init__(self) -> None:
        self.ratings: dict[tuple[UUID, str], tuple[bool, str]] = {}

    async def rated(self, *, answer_id: UUID, asker_id: str) -> bool | None:
        kept = self.ratings.get((answer_id, asker_id))
        return kept[0] if kept else None

    async def rate(
        self, *, answer_id: UUID, asker_id: str, helpful: bool, reason: str = ""
    ) -> None:
        self.ratings[answer_id, asker_id] = (helpful, reason)


class MemoryGaps:
    """Gaps that somebody found; new ones come to light when they are looked for."""

    def __init__(self, *gaps: Gap) -> None:
        self.gaps = {gap.gap_id: gap for gap in gaps}
        self.unseen: list[Gap] = []
        self.books: dict[UUID, str] = {}
        """The book that a gap's questions were looked up in; unset: the course."""

    async def refresh(self) -> None:
        self.gaps |= {gap.gap_id: gap for gap in self.unseen}

    async def listed(
        self, *, books: BookIds | None = None, states: Sequence[GapState] = (), limit: int = 50
    ) -> Sequence[Gap]:
        wanted = [
            gap
            for gap in self.gaps.values()
            if (not states or gap.state in states) and self._is_within(gap.gap_id, books)
        ]
        return sorted(wanted, key=lambda gap: -gap.count)[:limit]

    def _is_within(self, gap_id: UUID, books: BookIds | None) -> bool:
        return books is None or self.books.get(gap_id, "course") in books

    async def set_state(
        self, gap_id: UUID, state: GapState, *, books: BookIds | None = None
    ) -> bool:
        if gap_id not in self.gaps or not self._is_within(gap_id, books):
            return False
        self.gaps[gap_id] = replace(self.gaps[gap_id], state=state)
        return True


class FixedStats:
    """The same numbers every day."""

    async def last_days(self, days: int, *, books: BookIds | None = None) -> Stats:
        tally = Tally(
            questions=4,
            outcomes={"completed": 2, "low_confidence": 1, "no_results": 1},
            helpful=3,
            not_helpful=1,
        )
        stretch = [START.date() - timedelta(days=back) for back in reversed(range(days))]
        return Stats(
            days=tuple(DayTally(day=day, tally=tally) for day in stretch),
            total=tally,
            waiting=Waiting(p50=1.5, p95=4.0),
            platforms={"slack": tally},
            channels=(ChannelTally(platform="slack", tenant="T1", channel_id="C1", tally=tally),),
        )


class MemoryStories:
    """The stories of the answers in the ledger."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger

    async def recent(self, *, limit: int, books: BookIds | None = None) -> Sequence[StoryLine]:
        told = [
            story
            for entry in self._ledger.entries.values()
            if (story := told_of(entry)) and is_told(story, books)
        ]
        return [
            StoryLine(
                answer_id=story.response.answer_id,
                question=story.response.query,
                platform=story.platform,
                outcome=story.response.outcome,
                confidence=story.response.confidence,
                asked_at=story.asked_at,
                seconds=1.0,
            )
            for story in told[::-1][:limit]
        ]

    async def of(self, answer_id: UUID, *, books: BookIds | None = None) -> Story | None:
        told = map(told_of, self._ledger.entries.values())
        found = next((s for s in told if s and s.response.answer_id == answer_id), None)
        return found if found and is_told(found, books) else None


def is_told(story: Story, books: BookIds | None) -> bool:
    return books is None or is_within_books(story.searches, books)


def told_of(entry: Entry) -> Story | None:
    if entry.response is None:
        return None
    search = RetrievalRecord(
        tool_name="retrieve_documentation",
        query="limits <b>of</b> a key",
        results_count=5,
        avg_similarity=0.61,
        timestamp=START,
        books=tuple(entry.question.books or ("course",)),
    )
    return Story(
        response=entry.response,
        platform=entry.question.key.platform.value,
        asked_at=START,
        stored_at=START + timedelta(seconds=1),
        delivered=True,
        attempts=1,
        searches=(search,),
        ratings=(Rating(helpful=False, reason="Too <short>", rated_at=START),),
    )


class MemoryPolicies:
    """What places say for themselves."""

    def __init__(self) -> None:
        self.said: dict[Place, ChannelPolicy] = {}

    async def set(self, place: Place, policy: ChannelPolicy) -> None:
        if policy == ChannelPolicy():
            self.said.pop(place, None)
        else:
            self.said[place] = policy

    async def get(self, place: Place) -> ChannelPolicy | None:
        return self.said.get(place)

    async def around(self, place: Place, *, category_id: str = "") -> Sequence[ChannelPolicy]:
        return [self.said[place]] if place in self.said else []

    async def all(self) -> Mapping[Place, ChannelPolicy]:
        return self.said


class MemorySignIns:
    """Sign-ins of browsers, under the hash of their cookie."""

    def __init__(self) -> None:
        self.known: dict[str, SignIn] = {}

    async def begin(self, sign_in: SignIn) -> None:
        self.known[sign_in.digest] = sign_in

    async def find(self, digest: str) -> SignIn | None:
        return self.known.get(digest)

    async def end(self, digest: str) -> None:
        self.known.pop(digest, None)

    async def end_others(self, key_fingerprints: Collection[str]) -> None:
        self.known = {
            digest: each
            for digest, each in self.known.items()
            if each.key_fingerprint in key_fingerprints
        }


@dataclass
class House:
    """The desk's work in small: accept, answer, settle, post."""

    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    conversations: MemoryConversations = field(default_factory=MemoryConversations)
    replies: WebReplies = field(default_factory=WebReplies)
    jobs: MemoryJobs = field(default_factory=MemoryJobs)
    feedback: MemoryFeedback = field(default_factory=MemoryFeedback)
    gaps: MemoryGaps = field(default_factory=MemoryGaps)
    stats: FixedStats = field(default_factory=FixedStats)
    policies: MemoryPolicies = field(default_factory=MemoryPolicies)
    sign_ins: MemorySignIns = field(default_factory=MemorySignIns)
    now: datetime = START
    library: OneDefault = field(default_factory=lambda: OneDefault("course"))
    books: MemoryBooks = field(
        default_factory=lambda: MemoryBooks(
            Book(book_id="course", title="The course", files=3, chunks=4, last_full_ingest=START),
            Book(book_id="staff", title="For staff"),
        )
    )
    index: MemoryIndex = field(
        default_factory=lambda: MemoryIndex(
            a_result(0, total=2),
            a_result(1, total=2, text="Probes and refused requests do not count at all."),
            a_result(0, total=1, book_id="staff", parent="staff-1", text="Staff only: limits."),
        )
    )
    starters: FixedStarters = field(default_factory=lambda: FixedStarters())
    answerer: Answerer = plain_answer
    works: bool = True
    """Whether the desk's worker is at work."""
    elsewhere: bool = False
    """Whether another process answers: nothing is posted here."""
    checks: dict[str, bool] = field(default_factory=lambda: {"database": True, "index": True})
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def accept(self, question: IncomingQuestion) -> Receipt:
        receipt = await self.ledger.accept(question)
        if not receipt.repeated and self.works:
            task = asyncio.create_task(self.answer(question))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        return receipt

    async def revise(self, question: IncomingQuestion) -> None:
        entry = self.ledger.entries.get(question.identity)
        if entry is not None and entry.question.question.message != question.question.message:
            self.reopen(entry, replace(entry.question, question=question.question))

    async def withdraw(self, identity: MessageIdentity, *, asker_id: str | None = None) -> bool:
        entry = self.ledger.entries.get(identity)
        if entry is None or asker_id not in (None, entry.question.asker_id):
            return False
        del self.ledger.entries[identity]
        return True

    async def ask_again(self, answer_id: UUID, *, asker_id: str) -> Receipt | None:
        for entry in self.ledger.entries.values():
            if entry.response is not None and entry.response.answer_id == answer_id:
                self.reopen(entry, entry.question)
                return Receipt(question_id=entry.question_id, repeated=False)
        return None

    def reopen(self, entry: Entry, question: IncomingQuestion) -> None:
        """The old answer stands until there is a new one; the state tells that it is old."""
        entry.question, entry.state = question, QuestionState.PENDING
        if self.works:
            task = asyncio.create_task(self.answer(question))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def work(self) -> None:
        """Answer what is open, as after a restart."""
        for entry in list(self.ledger.entries.values()):
            if not entry.state.is_final:
                await self.answer(entry.question)

    async def answer(self, question: IncomingQuestion) -> None:
        entry = self.ledger.entries[question.identity]
        state = await self.conversations.open(
            question.key, model="fake", max_turns=50, session_id=question.question.session_id
        )
        replies = WebReplies() if self.elsewhere else self.replies
        async with replies.progress(question) as progress:
            response = await self.answerer(question, progress)
        response = replace(response, session_id=state.session_id)
        self.conversations.add_turn(question.key, question.question.message, response.answer)
        entry.response = response
        entry.state = QuestionState(response.outcome.value.upper())
        for number, payload in enumerate(WebRenderer().render(response, question)):
            part = OutgoingPart(question_id=entry.question_id, number=number, payload=payload)
            await replies.post(question, part)

    def parts(self) -> WebParts:
        return WebParts(
            desk=self,
            replies=self.replies,
            conversations=self.conversations,
            answers=self.ledger,
            retriever=self.index,
            passages=self.index,
            library=self.library,
            books=self.books,
            jobs=self.jobs,
            ingestion=self.jobs,
            starters=self.starters,
            feedback=self.feedback,
            gaps=self.gaps,
            stats=self.stats,
            stories=MemoryStories(self.ledger),
            policies=self.policies,
            sign_ins=self.sign_ins,
            readiness=self.readiness,
            metrics=self.metrics,
            tickets=MemoryTickets(lambda: self.now),
            version="0.1.0",
            clock=lambda: self.now,
        )

    async def metrics(self) -> bytes:
        return b"footnote_questions_total 1\n"

    async def readiness(self) -> Readiness:
        return Readiness(checks=self.checks)
