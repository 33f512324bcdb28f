"""What the web door needs of the house."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from starlette.types import ASGIApp

from adapters.platform import AcceptsQuestions, RevisesQuestions
from adapters.staff_answers import KeepsAnswers
from adapters.web.reply import WebReplies
from adapters.web.routes.hooks import ReadsSources
from rag_core.agent.answer import AgentResponse
from rag_core.books.book import BookIds
from rag_core.books.rules import Rules
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.asked import AskedQuestion
from rag_core.desk.progress import QuestionState
from rag_core.ingestion.job import IngestionJob
from rag_core.ingestion.pipeline import IngestionRequest
from rag_core.insight.gap import Gap, GapState
from rag_core.insight.stats import StatsStore
from rag_core.insight.story import StoryStore
from rag_core.ports import (
    BookStore,
    ConversationStore,
    FeedbackStore,
    JobStore,
    PolicyStore,
    TicketStore,
)
from rag_core.ports.sessions import SignInStore
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult
from rag_core.staff.answer import StaffAnswer
from rag_core.staff.writing import Draft


class KeepsQuestions(AcceptsQuestions, RevisesQuestions, Protocol):
    """The desk."""


class Answers(Protocol):
    """The ledger, as far as the web door reads it."""

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None: ...

    async def response_to(self, question_id: UUID) -> AgentResponse | None: ...

    async def state_of(self, question_id: UUID) -> QuestionState | None: ...

    async def asked_in(
        self, key: ConversationKey, *, limit: int = 100
    ) -> Sequence[AskedQuestion]: ...


class Searches(Protocol):
    """The retriever."""

    async def look_up(self, query: SearchQuery) -> SearchResponse: ...

    async def lesson(
        self, parent_doc_id: str, *, books: BookIds, filters: Filters
    ) -> Sequence[SearchResult]: ...

    async def modules(self, *, books: BookIds, filters: Filters) -> Sequence[str]: ...


class FindsPassages(Protocol):
    """The index, for the passages behind the footnotes."""

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]: ...


class ChoosesBooks(Protocol):
    """The library: which books are read where nobody names one, and what of them."""

    async def books_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str
    ) -> BookIds | None: ...

    async def rules_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str
    ) -> Rules: ...

    async def filters_for(
        self,
        *,
        platform: Platform,
        tenant: TenantId,
        channel_id: str,
        asked: Filters | None = None,
    ) -> Filters: ...


class OffersStarters(Protocol):
    """Questions for a first visit, which these books can answer."""

    async def of(self, books: BookIds) -> Sequence[str]: ...


class StartsJobs(Protocol):
    """The ingestion."""

    async def start(self, request: IngestionRequest) -> IngestionJob: ...

    async def cancel(self, job_id: UUID) -> bool: ...


class KnowsGaps(Protocol):
    """What was asked in vain."""

    async def refresh(self) -> None: ...

    async def listed(
        self, *, books: BookIds | None = None, states: Sequence[GapState] = (), limit: int = 50
    ) -> Sequence[Gap]: ...

    async def set_state(
        self, gap_id: UUID, state: GapState, *, books: BookIds | None = None
    ) -> bool: ...


class WritesAnswers(Protocol):
    """Answers that an admin writes down."""

    async def write(self, draft: Draft, *, by: str) -> StaffAnswer: ...

    async def change(
        self, answer_id: UUID, *, text: str | None = None, expires_at: datetime | None = None
    ) -> StaffAnswer: ...

    async def share(self, answer_id: UUID, places: Sequence[str]) -> StaffAnswer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether the house can answer; each part by its plain name."""

    checks: Mapping[str, bool]
    figures: Mapping[str, float] = field(default_factory=dict)
    """What whoever watches may want to see of it."""

    @property
    def ready(self) -> bool:
        return all(self.checks.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class WebParts:
    """What the web door is handed; the wiring makes it."""

    desk: KeepsQuestions
    replies: WebReplies
    conversations: ConversationStore
    answers: Answers
    retriever: Searches
    passages: FindsPassages
    library: ChoosesBooks
    books: BookStore
    jobs: JobStore
    ingestion: StartsJobs
    starters: OffersStarters
    feedback: FeedbackStore
    gaps: KnowsGaps
    stats: StatsStore
    stories: StoryStore
    policies: PolicyStore
    sign_ins: SignInStore
    readiness: Callable[[], Awaitable[Readiness]]
    metrics: Callable[[], Awaitable[bytes]]
    tickets: TicketStore
    """Which signed calls were made already."""
    version: str
    sources: ReadsSources | None = None
    """Reads a book's sources again; None: there are no hooks."""
    staffing: KeepsAnswers | None = None
    writing: WritesAnswers | None = None
    mounts: Mapping[str, ASGIApp] = field(default_factory=dict)
    """Applications of other platforms that share the port, by path; each guards itself."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
