"""What is looked for, and where it may be looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.errors import InvalidQuestion

MIN_TEXT = 3
DEFAULT_LIMIT = 5
MAX_LIMIT = 100
MAX_CHAPTER = 20
MAX_LESSON = 15
MIN_TIER, MAX_TIER = 1, 4
NAMED_MODULES = 20


class Proficiency(StrEnum):
    """How much a reader already knows."""

    A1 = "A1"
    A2 = "A2"
    B1 = "B1"
    B2 = "B2"
    C1 = "C1"
    C2 = "C2"


class Layer(StrEnum):
    """How a lesson teaches, from by hand to by orchestration."""

    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4 = "L4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which material a search may return; all fields combine with AND, None is no condition."""

    module: str | None = None
    modules: tuple[str, ...] = ()
    """Material of any of these. Set by a channel's policy only; `module` narrows it further."""
    chapter_min: int | None = None
    chapter_max: int | None = None
    lesson: int | None = None
    hardware_tier: int | None = None
    proficiency_levels: tuple[Proficiency, ...] = ()
    layer: Layer | None = None
    parent_doc_id: str | None = None
    released_at: datetime | None = None
    """Material released later than this is not found. Set by a channel's policy only."""

    def __post_init__(self) -> None:
        within("chapter_min", self.chapter_min, 0, MAX_CHAPTER)
        within("chapter_max", self.chapter_max, 0, MAX_CHAPTER)
        within("lesson", self.lesson, 0, MAX_LESSON)
        within("hardware_tier", self.hardware_tier, MIN_TIER, MAX_TIER)
        if (
            self.chapter_min is not None
            and self.chapter_max is not None
            and self.chapter_min > self.chapter_max
        ):
            raise InvalidQuestion(
                "chapter_min",
                f"chapter_min ({self.chapter_min}) is above chapter_max ({self.chapter_max}).",
                allowed="chapter_min up to chapter_max",
            )

    def applied(self) -> dict[str, object]:
        """The conditions that are set, by name, for people and programs to read."""
        named = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in named.items() if value not in (None, ())}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A text to look for in the books that the caller may read."""

    text: str
    book_ids: BookIds
    audience: Audience | None
    """Whose staff answers may be found, too; None: only documents are looked at."""
    limit: int = DEFAULT_LIMIT
    similarity_threshold: float = 0.0
    filters: Filters = field(default_factory=Filters)

    def __post_init__(self) -> None:
        if len(self.text.strip()) < MIN_TEXT:
            raise InvalidQuestion(
                "text",
                f"text must have at least {MIN_TEXT} characters.",
                allowed=f"at least {MIN_TEXT} characters",
            )
        within("limit", self.limit, 1, MAX_LIMIT)
        if not 0.0 <= self.similarity_threshold <= 1.0:
            raise InvalidQuestion(
                "similarity_threshold",
                "similarity_threshold must be between 0.0 and 1.0;"
                f" it was {self.similarity_threshold}.",
                allowed="0.0 to 1.0",
            )


def within(name: str, value: int | None, low: int, high: int) -> None:
    """Refuse a number outside its bounds, naming the field and the bounds."""
    if value is not None and not low <= value <= high:
        raise InvalidQuestion(
            name,
            f"{name} must be between {low} and {high}; it was {value}.",
            allowed=f"{low} to {high}",
        )


def no_such_module(module: str, known: Sequence[str]) -> InvalidQuestion:
    """The refusal, with the modules there are for who asks."""
    named = ", ".join(known[:NAMED_MODULES])
    more = f" and {len(known) - NAMED_MODULES} more" if len(known) > NAMED_MODULES else ""
    allowed = f"{named}{more}" if known else "none: these books have no modules"
    return InvalidQuestion(
        "module", f"There is no module {module!r}. Known modules: {allowed}.", allowed=allowed
    )


EVERYTHING = Filters()
"""No condition at all."""
