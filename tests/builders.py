"""Values with defaults, so that a test names only what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from rag_core.agent.answer import AgentResponse, Citation, Outcome
from rag_core.agent.checks.guard import GuardedText
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.conversation.key import LOCAL_TENANT, ConversationKey, Platform
from rag_core.conversation.message import Message
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.incoming import IncomingQuestion
from rag_core.retrieval.candidates import Candidate
from rag_core.retrieval.results import SearchResult

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def a_key(thread: str = "thread-1", platform: Platform = Platform.WEB) -> ConversationKey:
    return ConversationKey(
        platform=platform, tenant=LOCAL_TENANT, channel_id="channel-1", thread_id=thread
    )


def a_question(
    text: str = "How many a day?", *, message_id: str | None = None, **changes: Any
) -> IncomingQuestion:
    made = IncomingQuestion(
        key=a_key(),
        message_id=message_id or uuid4().hex,
        asker_id="asker-1",
        question=Question(message=text),
        heard_at=NOON,
        position="1",
    )
    return replace(made, **changes)


def a_response(text: str = "Ten a day [1].", **changes: Any) -> AgentResponse:
    made = AgentResponse(
        answer_id=uuid4(),
        answer=GuardedText(text),
        query="How many a day?",
        session_id=UUID(int=1),
        outcome=Outcome.COMPLETED,
        confidence=0.9,
        confidence_level=ConfidenceLevel.HIGH,
        model="scripted",
        created_at=NOON,
        citations=(a_citation(),),
    )
    return replace(made, **changes)


def a_citation(number: int = 1, **changes: Any) -> Citation:
    made = Citation(
        number=number,
        page_title="Limits",
        section_heading="Daily",
        chunk_id="chunk-1",
        content_hash="0" * 64,
        quote="Ten a day.",
        page_url="https://docs.example/limits#daily",
    )
    return replace(made, **changes)


def a_turn(session_id: UUID, question: str = "How many?", answer: str = "Ten [1].") -> Turn:
    return Turn(
        session_id=session_id,
        messages=(
            Message.user(question, at=NOON),
            Message.assistant(answer, at=NOON, confidence=0.9),
        ),
    )


def a_thread(**changes: Any) -> ConversationState:
    made = ConversationState(
        session_id=uuid4(),
        session_number=1,
        key=a_key(),
        messages=(Message.system("", at=NOON),),
        model="scripted",
        turn_count=0,
        created_at=NOON,
        updated_at=NOON,
    )
    return replace(made, **changes)


def a_candidate(text: str = "Ten a day.", **changes: Any) -> Candidate:
    made = Candidate(
        point=text,
        book_id="course",
        source_file="limits.md",
        content_hash=text,
        total_chunks=9,
        breadcrumb="",
        text=text,
        similarity=0.5,
        score=0.5,
    )
    return made._replace(**changes)


def a_result(text: str = "Ten a day.", **changes: Any) -> SearchResult:
    made = SearchResult(
        text=text,
        chunk_id=f"chunk of {text}",
        similarity_score=0.8,
        rank=1,
        rank_score=1.0,
        book_id="course",
        source_file="limits.md",
        content_hash=f"hash of {text}",
        parent_doc_id="parent-1",
        chunk_index=0,
        total_chunks=1,
        page_title="Limits",
        section_heading="Daily",
        page_url="https://docs.example/limits#daily",
    )
    return replace(made, **changes)
