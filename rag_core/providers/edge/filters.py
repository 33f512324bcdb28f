"""The conditions of a search in the embedded engine's words."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import qdrant_edge as edge

from rag_core.providers.index.conditions import Condition
from rag_core.providers.index.payload import EDITION


def readable(
    books: Collection[str], hidden: Collection[str], conditions: Iterable[Condition] = ()
) -> edge.Filter:
    """What a caller may see: its books only, without versions that are not shown.

    The engine takes an empty condition for "everything", so the books are never optional."""
    if not books:
        raise ValueError("a search names its books")
    own_books = edge.FieldCondition("book_id", match=edge.MatchAny(sorted(books)))
    required: list[Any] = [own_books, *map(in_engine_words, conditions)]
    if not hidden:
        return edge.Filter(must=required)
    unseen = edge.FieldCondition(EDITION, match=edge.MatchAny(sorted(hidden)))
    return edge.Filter(must=required, must_not=[unseen])


def in_engine_words(condition: Condition) -> edge.FieldCondition | edge.Filter:
    asked = field_condition(condition)
    if not condition.unset_passes:
        return asked
    return edge.Filter(should=[asked, edge.IsEmptyCondition(condition.field)])


def field_condition(condition: Condition) -> edge.FieldCondition:
    if condition.any_of:
        return edge.FieldCondition(condition.field, match=edge.MatchAny(list(condition.any_of)))
    if condition.until is not None:
        until = edge.RangeDateTime(lte=condition.until.isoformat())
        return edge.FieldCondition(condition.field, range=until)
    span = edge.RangeFloat(gte=condition.at_least, lte=condition.at_most)
    return edge.FieldCondition(condition.field, range=span)
