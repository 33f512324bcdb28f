"""What one measurement of a question set found, question by question: the document to keep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_core.errors import ConfigurationError
from rag_core.evaluation.answer_figures import AnswerFigures
from rag_core.evaluation.answer_quality import CitationQuality, RefusalQuality
from rag_core.evaluation.claim_quality import ClaimFigures, ClaimRow
from rag_core.evaluation.retrieval_quality import RetrievalQuality
from rag_core.evaluation.rows import QuestionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """Which model ordered the passages once more, and how often it did not."""

    model: str
    searches: int
    failed: int
    """These searches kept the order that holds without the model."""


class Run(BaseModel):
    """One measurement: how it was set up, its figures, and every question."""

    model_config = ConfigDict(frozen=True)

    question_set: str
    embedding_model: str
    history: str
    pages: int
    measured_at: datetime
    rerank: Reranking | None = None
    retrieval: RetrievalQuality | None = None
    model: str | None = None
    profile: str | None = None
    refusal: RefusalQuality | None = None
    citations: CitationQuality | None = None
    answers: AnswerFigures | None = None
    answers_by_set: dict[str, AnswerFigures] | None = None
    answers_by_kind: dict[str, AnswerFigures] | None = None
    verifier: str | None = None
    claims: ClaimFigures | None = None
    claims_by_kind: dict[str, ClaimFigures] | None = None
    questions: tuple[QuestionRow, ...] = ()
    checked_claims: tuple[ClaimRow, ...] | None = None

    def document(self) -> dict[str, Any]:
        """For JSON; parts that were not measured are left out. No rerank is said as null."""
        told = self.model_dump(mode="json")
        return {name: value for name, value in told.items() if value is not None or name == RERANK}

    @property
    def setup(self) -> dict[str, str]:
        """What may make two runs differ, in words."""
        return {
            "question set": self.question_set,
            "pages": str(self.pages),
            "embedding model": self.embedding_model,
            "rerank": self.rerank.model if self.rerank else "none",
            "history": self.history,
            "model": self.model or "not asked",
            "confidence profile": self.profile or "not asked",
            "verifier": self.verifier or "not asked",
        }


RERANK = "rerank"


def read_run(file: Path) -> Run:
    """A document that `footnote eval --json` printed. Blocks."""
    try:
        return Run.model_validate(json.loads(file.read_bytes()))
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read ({error.strerror}).") from error
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "the document"
        raise ConfigurationError(
            f"{file}: {place} is not as `footnote eval --json` prints it."
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"{file} is not JSON.") from error


def rows_by_key(rows: Sequence[QuestionRow]) -> dict[tuple[str, str], QuestionRow]:
    return {row.key: row for row in rows}
