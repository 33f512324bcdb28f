"""Rows of questions in vain as values of the domain, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from pydantic import TypeAdapter

from rag_core.agent.answer import Suggestion
from rag_core.agent.language.words import content
from rag_core.insight.gap import GapState, Member, Placed, Unanswered
from rag_core.storage.engines.codec import (
    RETRIEVALS,
    answer_body,
    from_json,
    from_time,
    to_json,
    to_time,
)
from rag_core.storage.engines.engine import Row
from rag_core.storage.vector_text import vector_from_text, vector_to_text

TERMS = TypeAdapter(tuple[int, ...])
ENOUGH_WORDS = 3
"""A question with so many words of its own is understood without its thread."""


def unanswered_from_row(row: Row) -> Unanswered:
    return Unanswered(
        answer_id=UUID(row["answer_id"]),
        question=question_of(row),
        searched=was_searched(row),
        asked_at=from_time(row["created_at"]),
    )


def was_searched(row: Row) -> bool:
    """Whether anything was looked up for an answer, found or not."""
    if row["retrievals"] is not None and from_json(RETRIEVALS, row["retrievals"]):
        return True
    return answer_body(row["body"]).retrieval_count > 0


def question_of(row: Row) -> str:
    """The question as it stands alone: a short one as it was looked up."""
    asked = answer_body(row["body"]).query
    if len(content(asked)) >= ENOUGH_WORDS or row["retrievals"] is None:
        return asked
    looked_up = [record.query for record in from_json(RETRIEVALS, row["retrievals"])]
    return max([asked, *looked_up[:1]], key=lambda text: len(content(text)))


def nearest_of(rows: Sequence[Row]) -> Suggestion | None:
    """The section that most of these questions came near to."""
    near: Counter[Suggestion] = Counter()
    for row in rows:
        body = answer_body(row["body"])
        read = [
            Suggestion(page_title=s.page_title, section_heading=s.section, page_url=s.url)
            for s in body.sources[:1]
        ]
        near.update((*body.suggestions, *read)[:1])
    return near.most_common(1)[0][0] if near else None


def placed_to_row(placed: Placed) -> dict[str, object]:
    return {
        "answer_id": str(placed.answer_id),
        "gap_id": str(placed.gap_id) if placed.gap_id else None,
        "asked_at": to_time(placed.asked_at),
        "closeness": placed.closeness,
        "vector": vector_to_text(placed.vector),
        "terms": to_json(TERMS, placed.terms),
    }


def member_from_row(row: Row) -> Member:
    gap_id = UUID(row["gap_id"])
    return Member(
        placed=Placed(
            answer_id=UUID(row["answer_id"]),
            gap_id=gap_id,
            asked_at=from_time(row["asked_at"]),
            vector=vector_from_text(row["vector"]),
            terms=from_json(TERMS, row["terms"]),
            closeness=row["closeness"],
        ),
        gap_id=gap_id,
        state=GapState(row["state"]),
        changed_at=from_time(row["changed_at"]),
    )
