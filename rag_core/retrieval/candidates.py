"""Passages that may become results, as far as they must be known to be put in order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from rag_core.retrieval.likeness import Likeness
from rag_core.retrieval.passage_kinds import TEXT

T = TypeVar("T")

CHUNKS_OF_A_PAGE = 2
"""More sections of one page wait behind other pages, so that they do not crowd them out."""
CRUMB_MARK = "›"
WAITING = 0.75
"""What is left of the score of a section that waits, by each one before it: where no other page
comes near, it need not wait."""


class Candidate(NamedTuple):
    """One of the passages that a search looks at more closely."""

    point: Hashable
    """The store's own name for it."""
    book_id: str
    source_file: str
    content_hash: str
    total_chunks: int
    breadcrumb: str
    text: str
    similarity: float
    score: float
    """By meaning and by words."""
    kind: str = TEXT
    """What it is where it asks, announces or lists and does not explain."""

    @property
    def nearness(self) -> float:
        """The similarity as results tell it: no passage is less than not alike at all."""
        return max(0.0, self.similarity)

    @property
    def page(self) -> tuple[str, str]:
        return self.book_id, self.source_file

    @property
    def passage(self) -> str:
        """What its words are looked up in: the headings too."""
        return f"{self.headings}\n\n{self.text}"

    @property
    def headings(self) -> str:
        """The breadcrumb in plain signs: most passages are none but plain letters then, and those
        are compared in half the time."""
        return self.breadcrumb.replace(CRUMB_MARK, ">")


class Placed(NamedTuple):
    """A candidate with the score that it stands by, and the other pages that have its text."""

    candidate: Candidate
    score: float
    also_in: tuple[str, ...] = ()


class Judged(Protocol):
    """Candidates, each judged by what it says; where they stand depends on their company too."""

    @property
    def leaders(self) -> Sequence[Hashable]:
        """The points that others are likened to; none where likeness does not matter."""
        ...

    def placed(self, likeness: Likeness) -> Sequence[Placed]:
        """The candidates in the order that readers get."""
        ...


Order = Callable[[Sequence[Candidate]], Judged]
"""Judges candidates, the best by meaning and words first."""


@dataclass(frozen=True, slots=True)
class AsFound:
    """The order of meaning and words alone."""

    candidates: Sequence[Candidate]

    @property
    def leaders(self) -> Sequence[Hashable]:
        return ()

    def placed(self, likeness: Likeness) -> Sequence[Placed]:
        return merged(Placed(candidate, candidate.score) for candidate in self.candidates)


def merged(placed: Iterable[Placed]) -> list[Placed]:
    """Of passages with the same text only the first, which says where else it stands."""
    others: dict[str, list[str]] = {}
    kept: list[Placed] = []
    for each in placed:
        known = others.get(each.candidate.content_hash)
        if known is None:
            others[each.candidate.content_hash] = []
            kept.append(each)
        else:
            known.append(each.candidate.source_file)
    return [
        each._replace(also_in=tuple(others[each.candidate.content_hash]))
        if others[each.candidate.content_hash]
        else each
        for each in kept
    ]


def pages_in_turn(
    items: Sequence[T], page: Callable[[T], Hashable], score: Callable[[T], float]
) -> list[T]:
    """The best first; further passages of a page go behind pages that are nearly as good."""
    before: dict[Hashable, int] = {}
    worth: list[float] = []
    for each in items:
        name = page(each)
        place = before.get(name, 0)
        before[name] = place + 1
        own = max(0.0, score(each))
        waits_for = place + 1 - CHUNKS_OF_A_PAGE
        worth.append(own * WAITING**waits_for if waits_for > 0 else own)
    return [items[at] for at in sorted(range(len(items)), key=worth.__getitem__, reverse=True)]
