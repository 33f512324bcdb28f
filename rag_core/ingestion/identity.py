"""The names of lessons and chunks: the same text in the same place has the same id in every run."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from uuid import UUID, uuid5

NAMESPACE = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
HASH_IN_ID = 16

LessonClaim = tuple[str, int, int]
"""Module, chapter and lesson of a file that has all three."""


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def place_of(book_id: str, *, source_file: str, claim: LessonClaim | None) -> str:
    """Where a lesson stands, as its ids spell it: by its course numbers or by its file."""
    if claim is None:
        return f"{book_id}:{source_file}"
    module, chapter, lesson = claim
    return f"{book_id}:{module}:{chapter}:{lesson}"


def parent_id(place: str) -> str:
    return str(uuid5(NAMESPACE, f"{place}:parent"))


def chunk_ids(place: str, hashes: Sequence[str]) -> list[str]:
    """One id for each text of a lesson, in order; a repeated text is told apart by its place."""
    seen: Counter[str] = Counter()
    ids = []
    for text_hash in hashes:
        short = text_hash[:HASH_IN_ID]
        repeat = f":{seen[short]}" if seen[short] else ""
        ids.append(str(uuid5(NAMESPACE, f"{place}:{short}{repeat}")))
        seen[short] += 1
    return ids


def lesson_owners(claims: Iterable[tuple[str, LessonClaim | None]]) -> dict[LessonClaim, str]:
    """Which file a lesson belongs to: of those that claim it, the one whose path sorts first."""
    owners: dict[LessonClaim, str] = {}
    for source_file, claim in sorted(claims, key=lambda pair: pair[0]):
        if claim is not None:
            owners.setdefault(claim, source_file)
    return owners
