"""What is asked is checked where it enters, at, below and above every bound."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.books.book import BookIds, checked_book_id
from rag_core.conversation.question import Question
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SectionPart
from tests.builders import NOON, a_result

COURSE = BookIds(["course"])


def refused(make: Any, field: str, **values: Any) -> InvalidQuestion:
    with pytest.raises(InvalidQuestion) as caught:
        make(**values)
    assert caught.value.field == field
    assert field in caught.value.message
    assert caught.value.allowed
    return caught.value


@pytest.mark.parametrize("text", ["", "   \n\t", "\x00\x01", "\u200b\u200e", "x" * 1_001])
def test_a_question_that_cannot_be_asked_names_field_and_bound(text: str) -> None:
    fault = refused(Question, "message", message=text)
    assert "1 to 1000 characters" in fault.allowed.replace(",", "")


@given(st.text(min_size=1, max_size=1_000).filter(lambda text: any(c.isalnum() for c in text)))
def test_any_other_question_is_kept_as_asked(text: str) -> None:
    assert Question(message=f"  {text} ").message == text.strip()


def test_a_question_of_exactly_the_bound_is_taken() -> None:
    assert len(Question(message="x" * 1_000).message) == 1_000


@pytest.mark.parametrize(
    ("field", "inside", "outside"),
    [
        ("top_k", [1, 10, None], [0, 11, -1]),
        ("similarity_threshold", [0.0, 1.0, None], [-0.01, 1.01, float("nan")]),
    ],
)
def test_question_bounds(field: str, inside: list[Any], outside: list[Any]) -> None:
    for value in inside:
        Question(message="How?", **{field: value})
    for value in outside:
        refused(Question, field, message="How?", **{field: value})


@pytest.mark.parametrize(
    ("field", "inside", "outside"),
    [
        ("chapter_min", [0, 20, None], [-1, 21]),
        ("chapter_max", [0, 20, None], [-1, 21]),
        ("lesson", [0, 15, None], [-1, 16]),
        ("hardware_tier", [1, 4, None], [0, 5]),
    ],
)
def test_filter_bounds(field: str, inside: list[Any], outside: list[Any]) -> None:
    for value in inside:
        Filters(**{field: value})
    for value in outside:
        refused(Filters, field, **{field: value})


def test_a_chapter_range_upside_down_names_both_ends() -> None:
    fault = refused(Filters, "chapter_min", chapter_min=3, chapter_max=2)
    assert "chapter_min (3)" in fault.message
    assert "chapter_max (2)" in fault.message
    assert Filters(chapter_min=3, chapter_max=3).applied() == {"chapter_min": 3, "chapter_max": 3}


@pytest.mark.parametrize(
    ("field", "inside", "outside"),
    [
        ("text", ["abc"], ["ab", "  a ", ""]),
        ("limit", [1, 100], [0, 101]),
        ("similarity_threshold", [0.0, 1.0], [-0.1, 1.1, float("nan")]),
    ],
)
def test_search_bounds(field: str, inside: list[Any], outside: list[Any]) -> None:
    usual = {"text": "limits", "book_ids": COURSE, "audience": None}
    for value in inside:
        SearchQuery(**{**usual, field: value})
    for value in outside:
        refused(SearchQuery, field, **{**usual, field: value})


def test_a_search_without_books_or_without_its_audience_cannot_be_written() -> None:
    with pytest.raises(TypeError):
        SearchQuery(text="limits", audience=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        SearchQuery(text="limits", book_ids=COURSE)  # type: ignore[call-arg]
    refused(BookIds, "book_ids", ids=[])


@pytest.mark.parametrize("book_id", ["a", "0", "course-1", "a.b_c", "x" * 64])
def test_book_ids_that_are_allowed(book_id: str) -> None:
    assert checked_book_id(book_id) == book_id


@pytest.mark.parametrize("book_id", ["", "A", "-a", "a b", "x" * 65, "a/b", "../a", "a\n"])
def test_book_ids_that_are_not(book_id: str) -> None:
    refused(checked_book_id, "book_id", book_id=book_id)


def test_evidence_found_again_keeps_its_number() -> None:
    first, second, third = (a_result(text) for text in ("one", "two", "three"))
    start = RetrievalContext(query="limits")
    once, numbered = start.extended([first, second], took_ms=1.0, at=NOON)
    assert [result.rank for result in numbered] == [1, 2]
    twice, numbered = once.extended([third, first], took_ms=2.0, at=NOON + timedelta(seconds=1))
    assert [result.rank for result in numbered] == [3, 1]
    assert [twice[number].text for number in (1, 2, 3)] == ["one", "two", "three"]
    assert 0 not in twice
    assert 4 not in twice
    assert twice.query_time_ms == 3.0


def test_a_section_found_again_by_another_of_its_chunks_keeps_its_number() -> None:
    parts = tuple(
        SectionPart(chunk_id=name, content_hash=name, page_url=None, section_heading="", start=at)
        for at, name in enumerate(("one", "two"))
    )
    section = a_result("Ten a day.", chunk_id="one", content_hash="one", parts=parts)
    again = a_result("Ten a day, or less.", chunk_id="two", content_hash="two", parts=parts)
    other = a_result("Two a week.", chunk_id="three", content_hash="three")
    context, _ = RetrievalContext(query="").extended([section], took_ms=1.0, at=NOON)
    assert context.handed_over(other) is None
    context, numbered = context.extended([other, again], took_ms=1.0, at=NOON)
    assert [result.rank for result in numbered] == [2, 1]
    assert numbered[1].text == section.text
    assert len(context.results) == 2
