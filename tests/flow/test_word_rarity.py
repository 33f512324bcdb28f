"""How rare a word is taken to be, beside a count of the passages that readers see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
import qdrant_edge as edge

from rag_core.providers.edge.building import GraphRules
from rag_core.providers.edge.rarity import WORDS, Reach, TermRarity
from rag_core.providers.edge.shard import configuration, create_indexes
from rag_core.providers.index.bm25 import idf
from rag_core.providers.index.payload import EDITION

PASSAGES = 2_000
EVERYWHERE, EVERY_THIRD, SELDOM, ONCE, NOWHERE = range(1, 6)
TERMS = [EVERYWHERE, EVERY_THIRD, SELDOM, ONCE, NOWHERE]
EVENLY = {EVERYWHERE: 1, EVERY_THIRD: 3, SELDOM: 100, ONCE: PASSAGES}
"""Of how many passages one has the word."""


def words_of(number: int) -> list[int]:
    return [term for term, step in EVENLY.items() if number % step == 0]


def points(
    numbers: Sequence[int], *, book: str = "course", edition: str = "one"
) -> edge.UpdateOperation:
    return edge.UpdateOperation.upsert_points(
        [
            edge.Point(
                number,
                {
                    "dense": [1.0, 0.0],
                    WORDS: edge.SparseVector(words_of(number), [1.5] * len(words_of(number))),
                },
                {"book_id": book, EDITION: edition},
            )
            for number in numbers
        ]
    )


@contextmanager
def index(folder: Path) -> Iterator[edge.EdgeShard]:
    """Of one book, its passages numbered from 1."""
    shard = edge.EdgeShard.create(str(folder), configuration(2, GraphRules()))
    try:
        create_indexes(shard)
        shard.update(points(range(1, PASSAGES + 1)))
        yield shard
    finally:
        shard.close()


def reach(*hidden: str, generation: int = 1) -> Reach:
    return Reach(books=("course",), hidden=frozenset(hidden), generation=generation)


def learnt(shard: edge.EdgeShard, where: Reach) -> dict[int, float]:
    """Each word asked for alone, as new ones come up question by question."""
    rarity = TermRarity()
    return {term: rarity.of([term], where, shard).rarity[term] for term in TERMS}


def counted(seen: Sequence[int]) -> dict[int, float]:
    having = {term: sum(term in words_of(number) for number in seen) for term in TERMS}
    return {term: idf(len(seen), many) if many else 0.0 for term, many in having.items()}


def test_words_of_the_only_book_are_as_rare_as_they_are(tmp_path: Path) -> None:
    with index(tmp_path) as shard:
        assert learnt(shard, reach()) == pytest.approx(
            counted(range(1, PASSAGES + 1)), rel=1e-4, abs=1e-6
        )


@pytest.mark.parametrize("gone", [4, 300])
def test_passages_that_are_gone_make_no_rare_word_common(tmp_path: Path, gone: int) -> None:
    """The engine counts them on: for common words a few make no difference that anybody sees."""
    with index(tmp_path) as shard:
        last = range(PASSAGES - gone + 1, PASSAGES + 1)  # among them the one that has a word alone
        shard.update(edge.UpdateOperation.delete_points(list(last)))
        expected = counted(range(1, PASSAGES - gone + 1))
        found = learnt(shard, reach())
    assert expected[ONCE] == found[ONCE] == 0.0
    assert found[SELDOM] == pytest.approx(expected[SELDOM], rel=1e-4, abs=1e-6)
    assert found == pytest.approx(expected, rel=0.02, abs=0.002)


def test_words_of_another_book_change_nothing(tmp_path: Path) -> None:
    with index(tmp_path) as shard:
        expected = learnt(shard, reach())
        shard.update(points(range(PASSAGES + 1, 3 * PASSAGES, 7), book="other"))
        assert learnt(shard, reach(generation=2)) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_words_of_a_version_on_its_way_in_change_nothing(tmp_path: Path) -> None:
    with index(tmp_path) as shard:
        expected = learnt(shard, reach())
        shard.update(points(range(PASSAGES + 1, 3 * PASSAGES, 7), edition="two"))
        assert learnt(shard, reach("two", generation=2)) == pytest.approx(
            expected, rel=1e-4, abs=1e-6
        )


def test_what_was_learnt_before_a_change_is_not_held_on_to(tmp_path: Path) -> None:
    with index(tmp_path) as shard:
        rarity = TermRarity()
        before = rarity.of(TERMS, reach(), shard).rarity[ONCE]
        numbers = [PASSAGES * times for times in range(2, 40)]
        shard.update(points(numbers))
        now = rarity.of(TERMS, reach(generation=2), shard).rarity
    assert before == pytest.approx(idf(PASSAGES, 1), rel=1e-4, abs=1e-6)
    assert now == pytest.approx(counted([*range(1, PASSAGES + 1), *numbers]), rel=1e-4, abs=1e-6)


class CountingShard:
    """The engine, and how often it was asked."""

    def __init__(self, shard: edge.EdgeShard) -> None:
        self._shard = shard
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        self.asked += 1
        return getattr(self._shard, name)


def test_a_word_is_counted_once_in_a_state_of_the_index(tmp_path: Path) -> None:
    with index(tmp_path) as shard:
        rarity, engine = TermRarity(), CountingShard(shard)
        first = dict(rarity.of(TERMS, reach(), cast(edge.EdgeShard, engine)).rarity)
        before = engine.asked
        again = rarity.of(list(reversed(TERMS)), reach(), cast(edge.EdgeShard, engine)).rarity
    assert before > 0
    assert engine.asked == before
    assert again == first
