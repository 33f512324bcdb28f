"""How an answer is put together: what was said, what it rests on, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from rag_core.agent.answer import (
    DISPLAYED_CHUNK,
    MAX_SUGGESTIONS,
    AgentResponse,
    Outcome,
    Source,
    Suggestion,
)
from rag_core.agent.checks.guard import guarded
from rag_core.agent.checks.instructions import for_readers
from rag_core.agent.confidence.level import ConfidenceLevel, ConfidenceMetrics
from rag_core.agent.confidence.profiles import ConfidenceProfile
from rag_core.agent.manner import Manner
from rag_core.agent.phrases import Phrases
from rag_core.agent.tool import RetrievalTool
from rag_core.agent.verification.check import CheckedText
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState
from rag_core.retrieval.results import SearchResult
from rag_core.text.visible import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What is known of an answer from the start, and the forms that it may take."""

    question: Question
    state: ConversationState
    model: str
    phrases: Phrases
    began: float
    asked_at: datetime
    now: Callable[[], datetime]
    manner: Manner = field(default_factory=Manner)

    def small_talk(self, text: str) -> AgentResponse:
        """Nothing was searched, nothing is claimed."""
        return self._response(
            text,
            outcome=Outcome.COMPLETED,
            confidence=1.0,
            confidence_level=ConfidenceLevel.HIGH,
        )

    def too_short(self) -> AgentResponse:
        return self._response(
            self.phrases.not_covered,
            outcome=Outcome.NO_RESULTS,
            confidence=0.0,
            confidence_level=ConfidenceLevel.INSUFFICIENT,
        )

    def researched(
        self,
        *,
        text: CheckedText,
        tool: RetrievalTool,
        metrics: ConfidenceMetrics,
        profile: ConfidenceProfile,
        tokens: int,
    ) -> AgentResponse:
        """The answer that its evidence supports, or the refusal where there is none."""
        common = self._measures(tool, tokens)
        if not guarded(text.text) or not metrics.should_answer:
            return self._response(
                self.phrases.not_covered,
                outcome=Outcome.NO_RESULTS,
                confidence=min(metrics.confidence, profile.refused_below),
                confidence_level=ConfidenceLevel.INSUFFICIENT,
                suggestions=suggestions(tool.context.results, floor=profile.floor),
                removed=text.removed + text.unfound,
                checked_by=text.checked_by,
                **common,
            )
        is_low = metrics.confidence_level is ConfidenceLevel.LOW or bool(text.faults)
        return self._response(
            text.text,
            outcome=Outcome.LOW_CONFIDENCE if is_low else Outcome.COMPLETED,
            confidence=metrics.confidence,
            confidence_level=ConfidenceLevel.LOW if is_low else metrics.confidence_level,
            citations=text.citations,
            marks=text.marks,
            removed=text.removed + text.unfound,
            checked_by=text.checked_by,
            sources=tuple(map(source, tool.context.results)),
            **common,
        )

    def _measures(self, tool: RetrievalTool, tokens: int) -> dict[str, Any]:
        elapsed = (time.perf_counter() - self.began) * 1_000
        retrieval = min(tool.context.query_time_ms, elapsed)
        return {
            "tokens_used": tokens,
            "retrieval_count": len(tool.context.results),
            "retrieval_time_ms": retrieval,
            "generation_time_ms": elapsed - retrieval,
        }

    def _response(self, text: str, **fields: Any) -> AgentResponse:
        return AgentResponse(
            answer_id=uuid4(),
            answer=guarded(text),
            query=self.question.message,
            session_id=self.state.session_id,
            model=self.model,
            created_at=self.now(),
            total_time_ms=(time.perf_counter() - self.began) * 1_000,
            **fields,
        )


def source(result: SearchResult) -> Source:
    return Source(
        chunk_text=shortened(excerpt(result)),
        similarity_score=result.similarity_score,
        rank=result.rank,
        page_title=result.page_title,
        section=result.section_heading,
        source_file=result.source_file,
        chunk_index=result.chunk_index,
        chapter=result.chapter,
        url=result.page_url,
    )


def excerpt(result: SearchResult) -> str:
    """A section from the chunk on that was found in it. It is read whole first: a heading may
    have all that stands below it removed."""
    whole = for_readers(visible(result.text))
    before = for_readers(visible(result.text[: result.found_at]))
    rest = whole.removeprefix(before) if whole.startswith(before) else ""
    return rest.strip() or whole


def shortened(text: str) -> str:
    return text if len(text) <= DISPLAYED_CHUNK else text[: DISPLAYED_CHUNK - 1] + "…"


def suggestions(results: Iterable[SearchResult], *, floor: float) -> tuple[Suggestion, ...]:
    """The nearest sections that have to do with the question, each once, nearest first."""
    near = sorted(
        (result for result in results if result.similarity_score >= floor and result.page_title),
        key=lambda result: -result.similarity_score,
    )
    named = dict.fromkeys(
        Suggestion(
            page_title=result.page_title,
            section_heading=result.section_heading,
            page_url=result.page_url,
            chunk_id=result.chunk_id,
        )
        for result in near
    )
    return tuple(named)[:MAX_SUGGESTIONS]
