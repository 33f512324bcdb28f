"""The conditions of a search in the Qdrant server's words."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from qdrant_client import models

from rag_core.providers.index.conditions import Condition
from rag_core.providers.index.payload import TENANT


def readable(
    books: Collection[str], hidden: Collection[str], conditions: Iterable[Condition] = ()
) -> models.Filter:
    """What a caller may see: its books only, without versions that are not shown.

    The server takes an empty condition for "everything", so the books are never optional."""
    if not books:
        raise ValueError("a search names its books")
    required: list[Any] = [one_of(TENANT, books), *map(in_server_words, conditions)]
    unseen: list[Any] = [one_of("edition", hidden)] if hidden else []
    return models.Filter(must=required, must_not=unseen or None)


def one_of(field: str, values: Collection[str]) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchAny(any=sorted(values)))


def has_number(field: str, number: int) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchValue(value=number))


def among(points: Collection[str]) -> models.Filter:
    return models.Filter(must=[models.HasIdCondition(has_id=sorted(points))])


def in_server_words(condition: Condition) -> models.FieldCondition | models.Filter:
    asked = field_condition(condition)
    if not condition.unset_passes:
        return asked
    empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=condition.field))
    return models.Filter(should=[asked, empty])


def field_condition(condition: Condition) -> models.FieldCondition:
    if condition.any_of:
        return one_of(condition.field, condition.any_of)
    if condition.until is not None:
        until = models.DatetimeRange(lte=condition.until)
        return models.FieldCondition(key=condition.field, range=until)
    span = models.Range(gte=condition.at_least, lte=condition.at_most)
    return models.FieldCondition(key=condition.field, range=span)
