"""Passages that ask, announce or list are known as such, and come after those that tell."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_core.ingestion.course import CoursePlace
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of
from rag_core.ingestion.loaders import load
from rag_core.retrieval.passage_kinds import kind_of, kinds_asked_for
from rag_core.retrieval.scoring import by_all_signals
from tests.builders import a_candidate
from tests.shelf_builders import long_text

LINKS = "- [Arm](arm.md)\n- [Eyes](eyes.md)"


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Exercises", "exercise"),
        ("Exercise 3: Move the arm", "exercise"),
        ("🚀 Challenge", "exercise"),
        ("[Pre-lecture quiz](https://quiz.example)", "exercise"),
        ("Chapter 4 Mastery Gate", "exercise"),
        ("Check your understanding", "exercise"),
        ("Try With AI", "prompt"),
        ("Lesson 4.4: Try With AI", "prompt"),
        ("Prompt 2: Ask for a plan", "prompt"),
        ("Learning objectives", "objectives"),
        ("What you’ll learn", "objectives"),
        ("For instructors", "setup"),
        ("Release notes", "announcement"),
        ("What's new in 2.1", "announcement"),
        ("Changelog", "announcement"),
        ("Table of contents", "contents"),
        ("In this chapter", "contents"),
        ("Practice makes perfect", "text"),
        ("How to write a prompt", "text"),
        ("Announcing a new colleague", "text"),
        ("Challenges", "text"),
        ("Goals", "text"),
        ("Contents of the first-aid box", "text"),
        ("Setup", "text"),
        ("Limits", "text"),
        ("", "text"),
    ],
)
def test_a_heading_says_what_stands_below_it(heading: str, kind: str) -> None:
    title = heading.replace("[", "").split("]")[0]
    assert kind_of("Basil", ["Arm", title], "The arm moves.") == kind


@pytest.mark.parametrize("heading", ["See also", "Next steps", "Resources", "2. Further reading"])
def test_a_list_of_links_is_one_only_while_it_is_nothing_else(heading: str) -> None:
    assert kind_of("Basil", [heading], LINKS) == "links"
    steps = "Ask Mara for a key. Then book a place.\n\nBring your badge.\n\n- [Arm](arm.md)"
    assert kind_of("Basil", [heading], steps) == "text"


def test_the_nearest_heading_that_says_a_kind_decides() -> None:
    assert kind_of("Basil", ["Exercises", "Move the arm"], "Move it.") == "exercise"
    assert kind_of("Basil", ["Exercises", "Prompt 1"], "Ask.") == "prompt"
    assert kind_of("Assignment", ["Instructions"], "Move it.") == "exercise"
    assert kind_of("Basil", ["Contents", "Usage"], "Run it.") == "text"


def test_a_page_of_rules_for_announcements_is_text() -> None:
    assert kind_of("Announcements", ["When to write one"], "Write one a week.") == "text"
    assert kind_of("Release notes", ["2.1"], "The arm is faster.") == "announcement"


def test_a_box_has_the_kind_of_its_title() -> None:
    assert kind_of("Arm", [], "**Objectives**\n\n- Move the arm.") == "objectives"
    assert kind_of("Arm", [], "**Objectives**\n\n" + "The arm moves. " * 200) == "text"


def test_each_chunk_of_a_page_is_labelled() -> None:
    page = f"# Arm\n\n{long_text('arm')}\n\n## Exercises\n\nMove the arm over bowl 2.\n"
    now = datetime.now(UTC)
    chunks = chunks_of(
        load("arm.md", page.encode()),
        CoursePlace(),
        shelf=Shelf(book_id="course"),
        edition=Edition(version=1, created_at=now, updated_at=now),
    )
    assert [chunk.metadata.kind for chunk in chunks] == ["text", "exercise"]


TELLS = a_candidate("The arm moves over the second bowl.", score=0.50, similarity=0.5)
ASKS = a_candidate(
    "Move the arm over the second bowl.", score=0.51, similarity=0.5, kind="exercise",
    source_file="b.md",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How does it get over the bowl?", TELLS),
        ("What is the exercise on the bowl?", ASKS),
    ],
)
def test_what_tells_comes_first_unless_something_else_is_asked_for(
    question: str, first: object
) -> None:
    judged = by_all_signals([ASKS, TELLS], question=question, thread=None)
    assert judged.placed({})[0].candidate == first


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("what is the assignment of lesson 3?", "exercise"),
        ("which prompt should I try?", "prompt"),
        ("what will I learn here?", "objectives"),
        ("anything for instructors?", "setup"),
        ("what changed in 2.1?", "announcement"),
        ("which lessons are there?", "contents"),
        ("where can I read more?", "links"),
    ],
)
def test_a_question_may_ask_for_a_kind(question: str, kind: str) -> None:
    assert kind in kinds_asked_for(question)
