"""The ports of the core: what it needs from models, stores and databases, in its own words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol
from uuid import UUID

from rag_core.agent.answer import AgentResponse
from rag_core.agent.model_events import ModelEvent, ToolChoice, ToolSpec
from rag_core.books.book import Book, BookIds
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.books.source import BookSource
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.message import Message
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.asked import AskedQuestion
from rag_core.desk.backlog import Backlog, ChangedAnswer, Overdue
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.limits import UNBOUNDED, Bounds
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart
from rag_core.desk.progress import QuestionState
from rag_core.ingestion.documents import EmbeddedChunk
from rag_core.ingestion.job import IngestionJob, IngestionRecord, IngestionState
from rag_core.retrieval.candidates import Order, as_found
from rag_core.retrieval.query import EVERYTHING, Filters
from rag_core.retrieval.results import SearchResult

Vector = Sequence[float]


class ChatModel(Protocol):
    """Writes a reply, piece by piece; may ask for tools."""

    @property
    def name(self) -> str: ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice,
        temperature: float,
        max_tokens: int | None,
    ) -> AsyncIterator[ModelEvent]:
        """Text as it comes, then exactly one Finished. What is cut begins anew or raises."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    @property
    def model(self) -> str:
        """Names the model so that vectors of different models are never mixed."""
        ...

    @property
    def dimension(self) -> int: ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]: ...

    async def embed_query(self, text: str) -> Vector: ...


class Reranker(Protocol):
    """Orders passages by how well they answer a query."""

    async def rerank(
        self, query: str, texts: Sequence[str], *, top: int
    ) -> Sequence[tuple[int, float]]:
        """The positions of the best texts, best first, each with its relevance."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedText:
    """A text to look for, with its vector."""

    text: str
    vector: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedQuery:
    """A query with its vector and the conditions that hold for it."""

    text: str
    vector: Vector
    filters: Filters = field(default_factory=Filters)
    thread: EmbeddedText | None = None
    """The asker's turns so far as one text, this one included; similarity is to `text` alone."""

    @property
    def texts(self) -> tuple[EmbeddedText, ...]:
        """What is looked for: the question, then its thread."""
        own = EmbeddedText(text=self.text, vector=self.vector)
        return (own,) if self.thread is None else (own, self.thread)


class VectorStore(Protocol):
    """Keeps embedded chunks and finds the nearest ones.

    A new version of a file is added beside the old one and stays unseen until `show_version`;
    that call shows the new version and hides the old one at once for every reader.
    """

    async def add(self, chunks: Sequence[EmbeddedChunk]) -> None: ...

    async def show_version(self, *, book_id: str, source_file: str, version: int | None) -> None:
        """Make exactly this version of the file visible (None: no version), then drop the rest."""
        ...

    async def show_versions(self, *, book_id: str, versions: Mapping[str, int | None]) -> None:
        """The same for several files of a book at once; what is as it should be costs nothing."""
        ...

    async def search(
        self,
        query: EmbeddedQuery,
        *,
        books: BookIds,
        limit: int,
        pool: int = 0,
        order: Order = as_found,
    ) -> Sequence[SearchResult]:
        """The first of what `order` makes of the best passages, at least `pool` of them.

        A query without text is looked for by its vector alone."""
        ...

    async def lesson(
        self, parent_doc_id: str, *, books: BookIds, filters: Filters = EVERYTHING
    ) -> Sequence[SearchResult]:
        """All chunks of one lesson that a search with these filters may find, in order."""
        ...

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]: ...

    async def modules(self, *, books: BookIds) -> Sequence[str]:
        """The modules that these books have, sorted."""
        ...

    async def count(self, *, books: BookIds) -> int: ...

    async def shown_versions(self, book_id: str) -> Mapping[str, int]:
        """Which version of each file readers see: what a database says of the index may be old."""
        ...

    async def drop_book(self, book_id: str) -> None: ...

    def frozen(self) -> AbstractAsyncContextManager[Path | None]:
        """The folder of an embedded index, which nobody writes until the end of the block; None
        where the index lies on a server."""
        ...


class ConversationStore(Protocol):
    """Keeps threads: one open session each, older sessions and archived messages behind it."""

    async def open(
        self, key: ConversationKey, *, model: str, max_turns: int, session_id: UUID | None = None
    ) -> ConversationState:
        """The thread's open session, made if need be, resumed if it was archived.

        A session that has had its turns is closed and a fresh one carries its topic summary.
        `session_id` names a first session that nobody has yet."""
        ...

    async def find(self, session_id: UUID) -> ConversationState | None:
        """The open session of the thread that this session, open or closed, belongs to."""
        ...

    async def history(self, session_id: UUID) -> Sequence[Message]:
        """Every message of one session, archived ones included, in order."""
        ...

    async def recent(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, limit: int
    ) -> Sequence[ConversationState]:
        """Open sessions of one channel, the last used first; their messages are left out."""
        ...

    async def archive_idle(self, *, idle_since: datetime) -> int:
        """Archive the threads without a word since then; how many there were."""
        ...

    async def delete(self, key: ConversationKey) -> None:
        """Remove a thread with all that was stored for it."""
        ...


class Ledger(Protocol):
    """Every question, from the moment it is accepted until its answer is posted."""

    async def accept(self, question: IncomingQuestion, *, bounds: Bounds = UNBOUNDED) -> Receipt:
        """Write a question under its message identity; a repeat changes nothing.

        What meets a bound is declined: the first time as a question whose answer is a notice."""
        ...

    async def claim(self, *, worker: str, lease: timedelta) -> OpenQuestion | None:
        """The first open question of the thread whose turn it is: tenants and askers in turn,
        a thread's own questions by position."""
        ...

    async def begin_answer(self, question_id: UUID) -> int:
        """Note that the model is about to be asked, and for which time."""
        ...

    async def renew(self, question_id: UUID, *, worker: str, lease: timedelta) -> bool:
        """Hold a claim longer; False when another worker has it."""
        ...

    async def let_go(self, question_id: UUID, *, worker: str) -> None:
        """Give one claim back."""
        ...

    async def release(self, *, worker: str) -> int:
        """Give back what this worker still holds; how many questions that were."""
        ...

    async def advance(self, question_id: UUID, state: QuestionState) -> None: ...

    async def settle(
        self,
        question_id: UUID,
        *,
        worker: str,
        response: AgentResponse,
        turn: Turn | None,
        parts: Sequence[str],
        revision: int = 0,
    ) -> tuple[OutgoingPart, ...]:
        """Store the answer, its turn and its outgoing parts in one transaction.

        Messages of an earlier answer to the question are edited or removed by these parts.
        Refused with StorageError when the claim was lost, with Superseded when the question
        is no longer in this revision."""
        ...

    async def step_down(
        self, question_id: UUID, *, worker: str, revision: int, rung: str, parts: Sequence[str]
    ) -> tuple[OutgoingPart, ...]:
        """Lay a settled answer out anew, in a plainer form that its platform may take."""
        ...

    async def revise(self, question: IncomingQuestion) -> UUID | None:
        """The same message with another text: to be answered anew. None: nothing changed."""
        ...

    async def withdraw(
        self, identity: MessageIdentity, *, asker_id: str | None = None
    ) -> UUID | None:
        """Take a question out of its thread, with its answer; None: no such question."""
        ...

    async def ask_again(self, answer_id: UUID) -> UUID | None:
        """Let the question of this answer be answered anew; None: no such answer."""
        ...

    async def backlog(self) -> Backlog: ...

    async def overdue(self, *, before: datetime, limit: int) -> Sequence[Overdue]:
        """Questions accepted before then that nobody works on, and whose askers know nothing."""
        ...

    async def tell(self, waiting: Overdue, payload: str) -> OutgoingPart | None:
        """Write down the notice of a long queue; None: the question is no longer waiting."""
        ...

    async def cited_after(self, chunk_id: str, *, limit: int) -> Sequence[str]:
        """The next passages that any answer cites, by id."""
        ...

    async def mark_changed(self, chunk_ids: Sequence[str]) -> int:
        """Mark the answers that cite passages which are no longer there; how many they are."""
        ...

    async def changed_answers(self, *, limit: int) -> Sequence[ChangedAnswer]:
        """Marked answers whose messages do not say so yet."""
        ...

    async def show_change(self, question_id: UUID, payloads: Sequence[str] | None) -> None:
        """Let a worker edit the messages of a marked answer; None: there are none to edit."""
        ...

    async def begin_post(self, part: OutgoingPart) -> None:
        """Raises Superseded when the part is no longer wanted as it is."""
        ...

    async def posted(self, part: OutgoingPart, *, external_id: str) -> None: ...

    async def dropped(self, part: OutgoingPart) -> None:
        """The part is shown nowhere any more."""
        ...

    async def post_anew(self, part: OutgoingPart, *, revision: int) -> OutgoingPart:
        """A message that could not be edited is replaced by a new one."""
        ...

    async def close(self, question_id: UUID, *, delivered: bool, revision: int = 0) -> None:
        """The end of a question: every part was posted, or nothing more will be tried.

        One that is no longer in this revision is only let go."""
        ...

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None: ...

    async def posted_parts(self, answer_id: UUID) -> Sequence[str]:
        """The platform's ids of the messages that show an answer, in order."""
        ...

    async def response_to(self, question_id: UUID) -> AgentResponse | None:
        """The settled answer to a question, if there is one yet."""
        ...

    async def state_of(self, question_id: UUID) -> QuestionState | None: ...

    async def asked_in(self, key: ConversationKey, *, limit: int = 100) -> Sequence[AskedQuestion]:
        """The newest questions of a thread, by position, with the answers that are settled."""
        ...

    async def asked_by(
        self, *, platform: Platform, tenant: TenantId, asker_id: str, limit: int
    ) -> Sequence[str]:
        """What a person asked in one server or workspace, the newest first."""
        ...

    async def waiting(self) -> int:
        """How many questions are neither delivered nor given up."""
        ...


class BookStore(Protocol):
    """The books there are."""

    async def save(self, book: Book) -> None: ...

    async def get(self, book_id: str) -> Book | None: ...

    async def all(self) -> Sequence[Book]: ...

    async def remove(self, book_id: str) -> None: ...


class PolicyStore(Protocol):
    """What each place of a chat platform says for itself."""

    async def set(self, place: Place, policy: ChannelPolicy) -> None:
        """Replace what the place says; a policy that says nothing removes it.

        What was said of the same channel without its server or workspace goes, too."""
        ...

    async def get(self, place: Place) -> ChannelPolicy | None: ...

    async def around(self, place: Place, *, category_id: str = "") -> Sequence[ChannelPolicy]:
        """What is said for a channel, its category and its server, the narrowest first."""
        ...

    async def all(self) -> Mapping[Place, ChannelPolicy]: ...


class SourceStore(Protocol):
    """Where the books come from, and how the last readings went."""

    async def add(self, source: BookSource) -> bool:
        """False: the book has this location already, and nothing was changed."""
        ...

    async def get(self, source_id: UUID) -> BookSource | None: ...

    async def all(self) -> Sequence[BookSource]:
        """By book and location."""
        ...

    async def update(self, source: BookSource) -> None:
        """Replace a source that is still there, but not when it is read next."""
        ...

    async def claim(self, source: BookSource, *, then: datetime) -> bool:
        """Move a due source to its next time; False: another process was first."""
        ...

    async def remove(self, source_id: UUID) -> bool: ...


class JobStore(Protocol):
    """Ingestion jobs, and what each file of a book left in the index."""

    async def save(self, job: IngestionJob) -> None:
        """Insert or replace."""
        ...

    async def get(self, job_id: UUID) -> IngestionJob | None: ...

    async def recent(self, *, limit: int = 50) -> Sequence[IngestionJob]:
        """The last started first."""
        ...

    async def unfinished(self) -> Sequence[IngestionJob]: ...

    async def state(self, book_id: str) -> IngestionState: ...

    async def record(self, book_id: str, record: IngestionRecord) -> None: ...

    async def record_all(self, book_id: str, records: Sequence[IngestionRecord]) -> None:
        """Several at once: all of them or none."""
        ...

    async def forget_file(self, book_id: str, source_file: str) -> None: ...


class FeedbackStore(Protocol):
    """What askers thought of their answers; one rating an asker and answer."""

    async def rated(self, *, answer_id: UUID, asker_id: str) -> bool | None:
        """Whether the asker found it helpful; None: no rating."""
        ...

    async def rate(
        self, *, answer_id: UUID, asker_id: str, helpful: bool, reason: str = ""
    ) -> None: ...


class MarkerStore(Protocol):
    """Small facts that must survive a restart: high-water marks, gateway sessions, hashes."""

    async def get(self, name: str) -> str | None: ...

    async def set(self, name: str, value: str) -> None: ...


class ForgettingStore(Protocol):
    """Forgets; when a call returns, the words are gone from the disk too."""

    async def person(self, *, platform: Platform, asker_id: str) -> int:
        """Everything that one person asked, with the answers; how many questions that were."""
        ...

    async def tenant(self, *, platform: Platform, tenant: TenantId) -> int:
        """A whole server or workspace."""
        ...

    async def older_than(self, moment: datetime) -> int:
        """Ended questions that were accepted before then."""
        ...
