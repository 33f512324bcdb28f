"""One answer, with everything a reader may check."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from rag_core.agent.checks.guard import GuardedText
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.conversation.key import ConversationKey

DISPLAYED_CHUNK = 500
MAX_SUGGESTIONS = 3


class Outcome(StrEnum):
    """How a question ended."""

    COMPLETED = "completed"
    LOW_CONFIDENCE = "low_confidence"
    NO_RESULTS = "no_results"
    ERROR = "error"


class ErrorKind(StrEnum):
    """What went wrong where a question ended in an error."""

    EMPTY = "empty"
    INVALID = "invalid"
    RETRIEVAL = "retrieval"
    API = "api"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A footnote: the place that a sentence came from, and the words that back it."""

    number: int
    page_title: str
    section_heading: str
    chunk_id: str
    content_hash: str
    quote: str
    module: str | None = None
    page_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One marker of the answer, and the words that back the sentence before it."""

    number: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedClaim:
    """What the documents do not say: left out of the answer, or marked in it, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A passage that the model was handed, cut for display."""

    chunk_text: str
    similarity_score: float
    rank: int
    page_title: str
    section: str
    source_file: str
    chunk_index: int
    chapter: int | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A section that is near a question which the documents do not answer."""

    page_title: str
    section_heading: str
    page_url: str | None = None
    chunk_id: str = field(default="", compare=False)
    """Its passage, which the reading page shows where the document has no address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierThread:
    """A thread in which the same was asked and answered before, and which the asker may read."""

    key: ConversationKey
    message_id: str
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResponse:
    """What goes back to the asker, the same document behind every door."""

    answer_id: UUID
    answer: GuardedText
    query: str
    session_id: UUID
    outcome: Outcome
    confidence: float
    confidence_level: ConfidenceLevel
    model: str
    created_at: datetime
    citations: tuple[Citation, ...] = ()
    marks: tuple[Mark, ...] = ()
    """One for each marker of the answer, in order."""
    removed: tuple[RemovedClaim, ...] = ()
    checked_by: str = ""
    """What verified the answer, and why it was not the configured verifier; for the story."""
    sources: tuple[Source, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    tokens_used: int = 0
    retrieval_count: int = 0
    retrieval_time_ms: float = 0.0
    generation_time_ms: float = 0.0
    total_time_ms: float = 0.0
    error: str | None = None
    error_kind: ErrorKind | None = None
    """For whoever keeps the house; askers read the sentence."""
    source_changed: bool = False
    """Whether a section that is cited here has changed since the answer was given."""
    asked_before: EarlierThread | None = None

    def __post_init__(self) -> None:
        if not self.answer.strip():
            raise ValueError("an answer is never empty")
        if [c.number for c in self.citations] != list(range(1, len(self.citations) + 1)):
            raise ValueError("citations are numbered from 1 without a gap")
        if any(not 1 <= mark.number <= len(self.citations) for mark in self.marks):
            raise ValueError("a mark belongs to a citation")
        if not self.should_answer and self.citations:
            raise ValueError("a refusal or an error has no citations")
        if len(self.suggestions) > MAX_SUGGESTIONS:
            raise ValueError(f"an answer has at most {MAX_SUGGESTIONS} suggestions")
        if not 0.0 <= self.confidence <= 1.0 or self.tokens_used < 0:
            raise ValueError("confidence lies between 0 and 1, and tokens are not negative")

    @property
    def places(self) -> tuple[Citation | Suggestion, ...]:
        """Every place in the documents that it names."""
        return (*self.citations, *self.suggestions)

    def quotes(self, number: int) -> tuple[str, ...]:
        """The words that back the sentences of one footnote, each once, in their order."""
        quoted = dict.fromkeys(m.quote for m in self.marks if m.number == number and m.quote)
        return tuple(quoted) or (self.citations[number - 1].quote,)

    @property
    def should_answer(self) -> bool:
        return self.outcome in {Outcome.COMPLETED, Outcome.LOW_CONFIDENCE}
