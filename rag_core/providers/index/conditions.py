"""Which chunks a search may return, in no vendor's words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rag_core.retrieval.query import EVERYTHING, Filters


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What one payload field must be: one of some words, within numbers, or not after a day."""

    field: str
    any_of: tuple[str, ...] = ()
    at_least: int | None = None
    at_most: int | None = None
    until: datetime | None = None
    unset_passes: bool = False
    """Whether material that does not say passes too."""

    @property
    def excludes(self) -> bool:
        bounds = (self.at_least, self.at_most, self.until)
        return bool(self.any_of) or any(bound is not None for bound in bounds)


def conditions_of(filters: Filters) -> list[Condition]:
    """One condition for each filter that is set; they combine with AND."""
    if filters == EVERYTHING:  # as nearly always, and told sooner than that none of them is set
        return []
    layer = filters.layer and filters.layer.value
    conditions = (
        is_one_of("module", filters.module),
        is_one_of("module", *filters.modules),
        is_one_of("layer", layer),
        is_one_of("parent_doc_id", filters.parent_doc_id),
        is_one_of("proficiency_level", *(level.value for level in filters.proficiency_levels)),
        Condition(field="lesson", at_least=filters.lesson, at_most=filters.lesson),
        Condition(field="chapter", at_least=filters.chapter_min, at_most=filters.chapter_max),
        Condition(field="hardware_tier", at_most=filters.hardware_tier, unset_passes=True),
        Condition(field="released_at", until=filters.released_at, unset_passes=True),
    )
    return [condition for condition in conditions if condition.excludes]


def is_one_of(field: str, *values: str | None) -> Condition:
    """The values that are set are the ones allowed."""
    return Condition(field=field, any_of=tuple(value for value in values if value is not None))
