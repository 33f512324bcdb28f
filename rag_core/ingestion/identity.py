"""The names of lessons and chunks: the same text in the same place has the same id in every run."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from uuid import UUID

NAMESPACE = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
VARIANT = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
"""The digit that says which kind of UUID this is: its two upper bits are fixed."""
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


def named_id(namespace: UUID, name: str) -> str:
    """The UUID of version 5, as text: every chunk has two, and this makes them the quick way."""
    digits = hashlib.sha1(namespace.bytes + name.encode(), usedforsecurity=False).hexdigest()
    third, fourth = f"5{digits[13:16]}", f"{VARIANT[digits[16]]}{digits[17:20]}"
    return f"{digits[:8]}-{digits[8:12]}-{third}-{fourth}-{digits[20:32]}"


def parent_id(place: str) -> str:
    return named_id(NAMESPACE, f"{place}:parent")


def chunk_ids(place: str, hashes: Sequence[str]) -> list[str]:
    """One id for each text of a lesson, in order; a repeated text is told apart by its place."""
    seen: Counter[str] = Counter()
    ids = []
    for text_hash in hashes:
        short = text_hash[:HASH_IN_ID]
        repeat = f":{seen[short]}" if seen[short] else ""
        ids.append(named_id(NAMESPACE, f"{place}:{short}{repeat}"))
        seen[short] += 1
    return ids


def lesson_owners(claims: Iterable[tuple[str, LessonClaim | None]]) -> dict[LessonClaim, str]:
    """Which file a lesson belongs to: of those that claim it, the one whose path sorts first."""
    owners: dict[LessonClaim, str] = {}
    for source_file, claim in sorted(claims, key=lambda pair: pair[0]):
        if claim is not None:
            owners.setdefault(claim, source_file)
    return owners
