"""A book: one team's or course's documents, kept apart from all others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from rag_core.errors import InvalidQuestion

BOOK_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
BOOK_ID_RULE = "1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit"


def checked_book_id(book_id: str, *, field: str = "book_id") -> str:
    """The id as it is, or a sentence on what an id may look like."""
    if not BOOK_ID.fullmatch(book_id):
        raise InvalidQuestion(
            field, f"{field} {book_id!r} is not a book id: {BOOK_ID_RULE}.", allowed=BOOK_ID_RULE
        )
    return book_id


@dataclass(frozen=True, slots=True)
class BookIds:
    """The books that one caller may read: never none, so that no search can forget them."""

    ids: tuple[str, ...]

    def __init__(self, ids: Iterable[str]) -> None:
        unique = tuple(sorted({checked_book_id(book_id, field="book_ids") for book_id in ids}))
        if not unique:
            raise InvalidQuestion(
                "book_ids", "book_ids must name at least one book.", allowed="at least one book id"
            )
        object.__setattr__(self, "ids", unique)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __contains__(self, book_id: object) -> bool:
        return book_id in self.ids

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """One book, with what its last runs left behind."""

    book_id: str
    title: str
    files: int = 0
    chunks: int = 0
    embedding_model: str = ""
    base_url: str = ""
    last_full_ingest: datetime | None = None
    last_incremental_update: datetime | None = None
