"""Values survive the database whatever they hold, and what cannot be stored is said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.agent.answer import (
    AgentResponse,
    Citation,
    ErrorKind,
    Outcome,
    Source,
    Suggestion,
)
from rag_core.agent.checks.guard import GuardedText
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.books.book import BookIds
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.message import Message, ToolCall
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import StorageError
from rag_core.ingestion.job import FileFailure, IngestionJob, IngestionMode, JobStatus
from rag_core.retrieval.query import Filters, Layer, Proficiency
from rag_core.storage.engines.codec import (
    JOB,
    MESSAGES,
    answer_from_rows,
    answer_to_row,
    citation_to_row,
    from_json,
    from_time,
    question_from_json,
    question_to_json,
    to_json,
    to_time,
)
from tests.builders import a_question

ZONES = st.sampled_from(
    [UTC, timezone(timedelta(hours=5, minutes=45)), timezone(-timedelta(hours=9))]
)
times = st.datetimes(
    min_value=datetime(1970, 1, 2),
    max_value=datetime(9000, 1, 1),
    timezones=ZONES,
)
words = st.text(min_size=1, max_size=40)
said = words.filter(str.strip)
shares = st.floats(0, 1)
numbers = st.integers(0, 2**31 - 1)
milliseconds = st.floats(0, 1e9)
questions = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80).map(
    lambda text: f"Q{text}?"
)
calls = st.lists(st.builds(ToolCall, id=words, name=words, arguments=st.text()), max_size=3).map(
    tuple
)
messages = st.one_of(
    st.builds(Message.user, said, at=times),
    st.builds(
        Message.assistant,
        st.text(),
        at=times,
        tool_calls=calls,
        confidence=st.none() | shares,
    ),
    st.builds(Message.tool, st.text(), name=words, tool_call_id=words, at=times),
)
filters = st.builds(
    Filters,
    module=st.none() | words,
    chapter_min=st.none() | st.integers(0, 5),
    chapter_max=st.none() | st.integers(5, 20),
    lesson=st.none() | st.integers(0, 15),
    hardware_tier=st.none() | st.integers(1, 4),
    proficiency_levels=st.lists(st.sampled_from(Proficiency)).map(tuple),
    layer=st.none() | st.sampled_from(Layer),
    parent_doc_id=st.none() | words,
    released_at=st.none() | times,
)
keys = st.builds(
    ConversationKey,
    platform=st.sampled_from(Platform),
    tenant=words.map(TenantId),
    channel_id=words,
    thread_id=words,
)
incoming = st.builds(
    IncomingQuestion,
    key=keys,
    message_id=words,
    asker_id=words,
    question=st.builds(
        Question,
        message=questions,
        session_id=st.none() | st.uuids(version=4),
        top_k=st.none() | st.integers(1, 10),
        similarity_threshold=st.none() | shares,
        filters=filters,
    ),
    heard_at=times,
    position=words,
    address=st.dictionaries(words, st.text(), max_size=3),
    books=st.none()
    | st.lists(st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True), min_size=1).map(BookIds),
    locale=words,
    private=st.booleans(),
)
sources = st.builds(
    Source,
    chunk_text=st.text(),
    similarity_score=shares,
    rank=numbers,
    page_title=st.text(),
    section=st.text(),
    source_file=words,
    chunk_index=numbers,
    chapter=st.none() | st.integers(0, 20),
    url=st.none() | words,
)
suggestions = st.builds(
    Suggestion, page_title=st.text(), section_heading=st.text(), page_url=st.none() | words
)


@st.composite
def responses(draw: Any) -> AgentResponse:
    outcome = draw(st.sampled_from(Outcome))
    answered = outcome in {Outcome.COMPLETED, Outcome.LOW_CONFIDENCE}
    cited = [
        Citation(
            number=number,
            page_title=draw(st.text()),
            section_heading=draw(st.text()),
            chunk_id=draw(words),
            content_hash=draw(words),
            quote=draw(st.text()),
            module=draw(st.none() | words),
            page_url=draw(st.none() | words),
        )
        for number in range(1, 1 + draw(st.integers(0, 3 if answered else 0)))
    ]
    return AgentResponse(
        answer_id=draw(st.uuids(version=4)),
        answer=GuardedText(draw(said)),
        query=draw(st.text()),
        session_id=draw(st.uuids(version=4)),
        outcome=outcome,
        confidence=draw(shares),
        confidence_level=draw(st.sampled_from(ConfidenceLevel)),
        model=draw(words),
        created_at=draw(times),
        citations=tuple(cited),
        sources=tuple(draw(st.lists(sources, max_size=3))),
        suggestions=tuple(draw(st.lists(suggestions, max_size=3))),
        tokens_used=draw(numbers),
        retrieval_count=draw(numbers),
        retrieval_time_ms=draw(milliseconds),
        generation_time_ms=draw(milliseconds),
        total_time_ms=draw(milliseconds),
        error=draw(st.none() | st.text()),
        error_kind=draw(st.none() | st.sampled_from(ErrorKind)),
    )


@given(incoming)
def test_a_question_survives(question: IncomingQuestion) -> None:
    assert question_from_json(question_to_json(question)) == question


@given(responses())
def test_an_answer_survives_and_is_still_guarded(response: AgentResponse) -> None:
    row = {**answer_to_row(response), "earlier_body": None}
    cited = [citation_to_row(each, answer_id=response.answer_id) for each in response.citations]
    found = answer_from_rows(row, cited)
    assert found == response
    assert isinstance(found.answer, GuardedText)


@given(st.lists(messages, max_size=6).map(tuple))
def test_messages_survive_in_the_form_that_the_chat_api_reads(said: tuple[Message, ...]) -> None:
    found = from_json(MESSAGES, to_json(MESSAGES, said))
    assert found == said
    assert [message.as_chat() for message in found] == [message.as_chat() for message in said]


@given(
    st.builds(
        IngestionJob,
        job_id=st.uuids(version=4),
        book_id=words,
        mode=st.sampled_from(IngestionMode),
        status=st.sampled_from([JobStatus.QUEUED, JobStatus.RUNNING]),
        started_at=times,
        sources=st.lists(words).map(tuple),
        failures=st.lists(st.builds(FileFailure, source_file=words, reason=st.text())).map(tuple),
        notices=st.lists(st.text()).map(tuple),
        files_processed=numbers,
        duration_seconds=st.none() | milliseconds,
        error_message=st.none() | st.text(),
    )
)
def test_a_job_survives(job: IngestionJob) -> None:
    assert from_json(JOB, to_json(JOB, job)) == job


@given(times, times)
def test_stored_times_sort_as_the_times_do_and_come_back_in_utc(a: datetime, b: datetime) -> None:
    assert (to_time(a) < to_time(b)) == (a < b)
    assert from_time(to_time(a)) == a
    assert from_time(to_time(a)).tzinfo is UTC


def test_half_a_character_is_refused_with_a_sentence() -> None:
    with pytest.raises(StorageError, match="characters"):
        question_to_json(a_question("What is \ud83d?"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"key": 1}', "null", "not json"])
def test_what_this_program_did_not_write_is_said(text: str) -> None:
    with pytest.raises(StorageError, match="cannot read"):
        question_from_json(text)
