"""The kinds of fields that strangers fill in, and what each of them may hold."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from rag_core.books.book import BOOK_ID
from rag_core.retrieval.query import MAX_CHAPTER, MAX_TIER, MIN_TIER

MAX_NAME = 300
HEX = "[0-9a-fA-F]"
HALF_A_PAIR = re.compile("[\ud800-\udfff]")
UUID_V4 = f"^{HEX}{{8}}-{HEX}{{4}}-4{HEX}{{3}}-[89abAB]{HEX}{{3}}-{HEX}{{12}}$"


def storable(text: str) -> str:
    """Half a surrogate pair is not text, a database may refuse U+0000, and nobody means either."""
    if "\x00" in text:
        raise ValueError("text without the character U+0000")
    if HALF_A_PAIR.search(text):
        raise ValueError("text without halves of surrogate pairs")
    return text


def bounds(**schema: Any) -> dict[str, Any]:
    """Bounds for readers of the description; the domain checks them and words the refusal."""
    return schema


def written(value: object) -> object:
    """A moment is written out; a bare number may be seconds, days or years."""
    if not isinstance(value, str):
        raise ValueError("a time in ISO 8601 with its offset")  # noqa: TRY004 - a fault of a field
    return value


def whole(value: object) -> object:
    """A number without a fraction is whole however it is written: `4.0` is what `4` is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(whole)]
Tier = Annotated[Whole, Field(json_schema_extra=bounds(minimum=MIN_TIER, maximum=MAX_TIER))]
Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(written)]
Text = Annotated[str, AfterValidator(storable)]
Name = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(storable)]
BookName = Annotated[
    str, Field(max_length=MAX_NAME, json_schema_extra=bounds(pattern=f"^{BOOK_ID.pattern}$"))
]
BookNames = Annotated[list[BookName], Field(min_length=1, max_length=100)]
Chapter = Annotated[Whole, Field(json_schema_extra=bounds(minimum=0, maximum=MAX_CHAPTER))]
