"""A question, checked where it enters."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from uuid import UUID

from rag_core.conversation.context import (
    MAX_CONTEXT,
    ContextItem,
    ContextKind,
    check_context,
)
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.query import Filters

MAX_QUESTION = 1_000
MIN_TOP_K, MAX_TOP_K = 1, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What somebody asks, with the bounds on how it may be looked up."""

    message: str
    session_id: UUID | None = None
    top_k: int | None = None
    similarity_threshold: float | None = None
    filters: Filters = field(default_factory=Filters)
    context: tuple[ContextItem, ...] = ()
    """What came with the question: it helps to understand and to search, and is not answered."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", checked_message(self.message))
        check_context(self.context)
        if self.top_k is not None and not MIN_TOP_K <= self.top_k <= MAX_TOP_K:
            raise InvalidQuestion(
                "top_k",
                f"top_k must be between {MIN_TOP_K} and {MAX_TOP_K}; it was {self.top_k}.",
                allowed=f"{MIN_TOP_K} to {MAX_TOP_K}",
            )
        threshold = self.similarity_threshold
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise InvalidQuestion(
                "similarity_threshold",
                f"similarity_threshold must be between 0.0 and 1.0; it was {threshold}.",
                allowed="0.0 to 1.0",
            )

    def was_written_as(self, other: Question) -> bool:
        """Whether both come from the same message: what stands beside it may have changed."""
        return (self.message, self._pastes) == (other.message, other._pastes)

    @property
    def _pastes(self) -> tuple[ContextItem, ...]:
        return tuple(item for item in self.context if item.kind is ContextKind.PASTE)

    def keeping_context_of(self, earlier: Question) -> Question:
        """An edited question with what came beside it before: an edit changes the message alone,
        and with it what was pasted there."""
        if any(item.kind is not ContextKind.PASTE for item in self.context):
            return self
        beside = [item for item in earlier.context if item.kind is not ContextKind.PASTE]
        context = (*self.context, *beside)
        fits = sum(item.size for item in context) <= MAX_CONTEXT
        return replace(self, context=context) if fits else self


def checked_message(text: str) -> str:
    """The question without surrounding space, or a sentence on why it cannot be asked."""
    allowed = f"1 to {MAX_QUESTION} characters"
    stripped = text.strip()
    if not stripped:
        raise InvalidQuestion(
            "message",
            f"The message is empty; it must have {allowed}.",
            allowed=allowed,
        )
    if shows_nothing(stripped):
        raise InvalidQuestion(
            "message",
            f"The message has only control characters; it must have {allowed} of text.",
            allowed=allowed,
        )
    if len(stripped) > MAX_QUESTION:
        raise InvalidQuestion(
            "message",
            f"The message has {len(stripped):,} characters; it may have {allowed}.",
            allowed=allowed,
        )
    return stripped


def shows_nothing(text: str) -> bool:
    """Whether a reader sees nothing of a text."""
    return all(is_invisible(character) for character in text)


def is_invisible(character: str) -> bool:
    """Whether a character shows nothing: white space, control and format characters."""
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn"}
