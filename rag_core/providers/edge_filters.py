"""The conditions of a search in the embedded engine's words."""

from __future__ import annotations

from collections.abc import Collection

import qdrant_edge as edge

from rag_core.retrieval.query import Filters

Condition = edge.FieldCondition | edge.Filter


def readable(
    books: Collection[str], hidden: Collection[str], conditions: list[Condition] | None = None
) -> edge.Filter:
    """What a caller may see: its books only, without versions that are not shown.

    The engine takes an empty condition for "everything", so the books are never optional."""
    if not books:
        raise ValueError("a search names its books")
    own_books = edge.FieldCondition("book_id", match=edge.MatchAny(sorted(books)))
    if not hidden:
        return edge.Filter(must=[own_books, *(conditions or ())])
    unseen = edge.FieldCondition("edition", match=edge.MatchAny(sorted(hidden)))
    return edge.Filter(must=[own_books, *(conditions or ())], must_not=[unseen])


def conditions_of(filters: Filters) -> list[Condition]:
    """One condition for each filter that is set."""
    conditions: list[Condition] = [
        edge.FieldCondition(name, match=edge.MatchValue(value))
        for name, value in (
            ("module", filters.module),
            ("lesson", filters.lesson),
            ("layer", filters.layer and filters.layer.value),
            ("parent_doc_id", filters.parent_doc_id),
        )
        if value is not None
    ]
    if filters.proficiency_levels:
        levels = [level.value for level in filters.proficiency_levels]
        conditions.append(edge.FieldCondition("proficiency_level", match=edge.MatchAny(levels)))
    if filters.chapter_min is not None or filters.chapter_max is not None:
        span = edge.RangeFloat(gte=filters.chapter_min, lte=filters.chapter_max)
        conditions.append(edge.FieldCondition("chapter", range=span))
    if filters.hardware_tier is not None:
        tier = edge.RangeFloat(lte=filters.hardware_tier)
        conditions.append(unset_or(edge.FieldCondition("hardware_tier", range=tier)))
    if filters.released_at is not None:
        until = edge.RangeDateTime(lte=filters.released_at.isoformat())
        conditions.append(unset_or(edge.FieldCondition("released_at", range=until)))
    return conditions


def unset_or(condition: edge.FieldCondition) -> edge.Filter:
    """Material that does not say passes too."""
    return edge.Filter(should=[condition, edge.IsEmptyCondition(condition.key)])
