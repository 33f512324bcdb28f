"""What orders passages: their wording, their page and what was said before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.books.book import BookIds
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.providers.embedders.models import FORMER_LOCAL_MODEL, LOCAL_MODEL
from rag_core.retrieval.candidates import Candidate, Placed
from rag_core.retrieval.cosines import USUAL, scale_of
from rag_core.retrieval.coverage import PIECE, coverage, spaced_letters
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.scoring import (
    LIKENESS_WEIGHT,
    SECOND_WEIGHT,
    THREAD_WEIGHT,
    Judgement,
    by_all_signals,
    contenders,
    ranked,
    ranked_alone,
    with_wording,
)
from rag_core.retrieval.thread import LONGEST, thread_text
from tests.builders import a_candidate
from tests.fakes.embedder import WordEmbedder
from tests.shelf_builders import file_chunks, long_text

COURSE = BookIds(["course"])
TEXTS = st.text(alphabet="abcé .\x00-", max_size=30)


def pieces(text: str) -> set[bytes]:
    letters = spaced_letters([text])[:-1].tobytes()
    return {letters[n : n + PIECE] for n in range(len(letters) - PIECE + 1)}


@given(TEXTS, st.lists(TEXTS, max_size=5))
def test_coverage_is_a_share_and_one_where_every_piece_is_there(
    question: str, passages: list[str]
) -> None:
    shares = coverage(question, passages)
    assert len(shares) == len(passages)
    for share, passage in zip(shares, passages, strict=True):
        assert -1e-9 <= share <= 1.0 + 1e-9
        wanted = pieces(question)
        assert (share > 0) == bool(wanted & pieces(passage))
        assert (share == pytest.approx(1.0)) == (bool(wanted) and wanted <= pieces(passage))


@given(st.text(alphabet="aBÄé ’“–…KⓀΣ中\n", max_size=40))
def test_large_letters_are_small_ones_whatever_signs_stand_beside_them(text: str) -> None:
    assert pieces(text) == pieces(text.lower())


SCORED = st.tuples(st.floats(-1.0, 1.0, width=32), st.floats(0.0, 1.0))


@given(
    st.lists(SCORED, min_size=2, max_size=40),
    st.integers(1, 12),
    st.integers(1, 12),
    st.sampled_from([1.0, 1.5, 3.0]),
)
def test_whoever_is_among_the_best_was_a_contender(
    scored: list[tuple[float, float]], heard: int, room: int, weight: float
) -> None:
    everything = np.array(scored).T
    brought = [{*np.argsort(-row, kind="stable")[:heard].tolist()} for row in everything]
    points = sorted(set[int]().union(*brought))
    known = np.array(
        [
            [row[at] if at in own else np.nan for at in points]
            for row, own in zip(everything, brought, strict=True)
        ]
    )
    room = min(room, len(points))
    contending = contenders(known, room=room, cosine_weight=weight)
    kept = [points[at] for at in np.flatnonzero(contending).tolist()]
    best = ranked(points, everything[:, points], weight)
    assert {*best.points[:room]} <= {*kept}


def test_who_cannot_come_near_any_more_is_no_contender() -> None:
    near = [0.9, 0.8, 0.1, np.nan]
    said = [0.9, np.nan, np.nan, 0.1]
    assert contenders(np.array([near, said]), room=1).tolist() == [True, False, False, False]
    assert all(contenders(np.array([near, said]), room=4))


def test_a_signal_that_knows_nothing_of_a_point_adds_nothing_and_takes_nothing() -> None:
    found = ranked(["far", "gone", "said"], np.array([[-0.5, np.nan, 0.5], [0.1, np.nan, np.nan]]))
    assert found.points == ["said", "far", "gone"]
    assert found.similarities == [0.5, -0.5, 0.0]
    assert found.scores == pytest.approx([0.5, 0.06, 0.0])


@given(st.dictionaries(st.integers(0, 2**64 - 1), st.floats(-1.0, 1.0, width=32), max_size=12))
def test_meaning_alone_is_ranked_to_the_bit_as_beside_words_that_nobody_has(
    cosines: dict[int, float],
) -> None:
    points = sorted(cosines)
    rows = np.array([[cosines[at] for at in points], [0.0] * len(points)])
    assert ranked_alone(cosines) == ranked(points, rows)


def test_the_local_model_of_new_indexes_has_its_own_scale_and_older_indexes_keep_theirs() -> None:
    assert scale_of(LOCAL_MODEL) != USUAL
    assert scale_of(FORMER_LOCAL_MODEL) == USUAL
    assert scale_of("text-embedding-3-small") == USUAL


def test_words_in_their_order_cover_more_and_case_and_marks_mean_nothing() -> None:
    ordered, mixed, other = coverage(
        "Heat the oven!", ["to heat: THE oven", "the heat of an oven", "a bicycle"]
    )
    assert ordered == pytest.approx(1.0)
    assert ordered > mixed > other == 0.0


def test_a_rare_piece_counts_more_than_one_that_all_have() -> None:
    shares = coverage("common zebra", ["the common way", "the zebra way", "common ground"])
    assert shares[1] > shares[0] == pytest.approx(shares[2], abs=0.1)


def test_wording_is_added_to_the_score_and_the_thread_counts_less() -> None:
    found = [a_candidate("a zebra runs", score=1.0), a_candidate("nothing", score=1.0)]
    alone = with_wording(found, "zebra", None)
    both = with_wording(found, "zebra", "zebra")
    assert alone[0] > alone[1] == 1.0
    assert both[0] - 1.0 == pytest.approx((1 + THREAD_WEIGHT) * (alone[0] - 1.0))


def judged(candidates: list[Candidate], question: str = "", *, threshold: float = 0.0) -> Judgement:
    return by_all_signals(
        candidates, question=question, thread=None, threshold=threshold, in_turn=True
    )


def placed(
    candidates: list[Candidate], question: str = "", *, threshold: float = 0.0
) -> list[Placed]:
    """In an index where nothing is alike."""
    return judged(candidates, question, threshold=threshold).placed({})


def test_a_page_with_two_good_passages_stands_above_one_with_one() -> None:
    ordered = placed(
        [
            a_candidate("single", source_file="a", score=0.60),
            a_candidate("first", source_file="b", score=0.59),
            a_candidate("second", source_file="b", score=0.50),
        ]
    )
    assert [each.candidate.text for each in ordered] == ["first", "second", "single"]
    assert ordered[0].score == pytest.approx(0.59 + SECOND_WEIGHT * 0.50)


def test_a_passage_cut_in_two_neither_gains_nor_loses_by_the_cut() -> None:
    half, whole, other = placed(
        [
            a_candidate("half", source_file="b", score=0.60, total_chunks=2),
            a_candidate("whole", source_file="a", score=0.60, total_chunks=1),
            a_candidate("other half", source_file="b", score=0.58, total_chunks=2),
        ]
    )
    assert [each.candidate.text for each in (half, whole, other)] == ["half", "whole", "other half"]
    assert half.score == whole.score


def test_pages_of_different_books_are_different_pages() -> None:
    found = [a_candidate(book, book_id=book, source_file="a") for book in ("one", "two")]
    assert [each.score for each in placed(found)] == [0.5, 0.5]


def test_of_equal_texts_the_one_on_the_better_page_is_the_result() -> None:
    found = [
        a_candidate("same", source_file="poor", score=0.61),
        a_candidate("same", source_file="rich", score=0.60),
        a_candidate("more", source_file="rich", score=0.55),
    ]
    first, second = placed(found)
    assert (first.candidate.source_file, first.also_in) == ("rich", ("poor",))
    assert (second.candidate.text, second.also_in) == ("more", ())


def test_what_is_below_the_threshold_does_not_stand_for_its_equal_above_it() -> None:
    found = [
        a_candidate("same", source_file="far", score=0.9, similarity=0.2),
        a_candidate("same", source_file="near", score=0.5, similarity=0.6),
    ]
    (only,) = placed(found, threshold=0.5)
    assert (only.candidate.source_file, only.also_in) == ("near", ())


def test_without_a_threshold_words_alone_are_enough() -> None:
    """A name that the model never read may stand opposite to the passage about it."""
    named = a_candidate("Velmora keeps the index small.", similarity=-0.03)
    other = a_candidate("The index is kept small.", similarity=0.2)
    first, _ = placed([other, named], "velmora?")
    assert first.candidate is named
    left = placed([other, named], "velmora?", threshold=0.01)
    assert [each.candidate for each in left] == [other]


def test_of_two_passages_that_say_as_much_the_one_like_the_best_stands_first() -> None:
    found = [
        a_candidate("the best", source_file="a", score=0.9),
        a_candidate("another matter", source_file="b", score=0.5),
        a_candidate("the same matter", source_file="c", score=0.45),
    ]
    judgement = judged(found)
    assert [each.candidate.source_file for each in judgement.placed({})] == ["a", "b", "c"]
    likeness = {"the best": 0.8, "another matter": 0.1, "the same matter": 0.7}
    ordered = judgement.placed(likeness)
    assert [each.candidate.source_file for each in ordered] == ["a", "c", "b"]
    assert ordered[1].score == pytest.approx(0.45 + LIKENESS_WEIGHT * 0.7)


def test_a_text_that_many_pages_have_leads_once() -> None:
    copies = [a_candidate("copied", point=n, source_file=f"{n}.md", score=0.9) for n in range(5)]
    others = [a_candidate(text, score=0.3) for text in ("one", "two", "three")]
    assert list(judged([*copies, *others]).leaders) == [0, "one", "two"]


def test_being_opposite_to_the_best_costs_nothing_and_nothing_found_has_no_order() -> None:
    (only,) = judged([a_candidate("alone", source_file="a", score=0.4)]).placed({"alone": -0.5})
    assert only.score == pytest.approx(0.4)
    assert (list(judged([]).leaders), judged([]).placed({})) == ([], [])


def test_a_thread_is_the_newest_turns_in_order() -> None:
    assert thread_text([], "and?") is None
    assert thread_text(["  "], "and?") is None
    assert thread_text(["one", "two\n three"], "and?") == "one two three and?"
    assert thread_text(["the oven?", "heat?"], "heat? and the tray?") == (
        "the oven? heat? and the tray?"
    )
    long = thread_text(["old " * 200, "new " * 100], "and?")
    assert long is not None
    assert "old" not in long
    assert len(long) <= LONGEST


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    model = WordEmbedder()
    async with open_edge_store(
        tmp_path / "index", dimension=model.dimension, model=model.model
    ) as opened:
        for subject in ("oven", "tray", "gear"):
            await opened.add(file_chunks([long_text(subject)], file=f"{subject}.md"))
            await opened.show_version(book_id="course", source_file=f"{subject}.md", version=1)
        yield opened


async def test_what_was_said_before_decides_where_the_question_says_little(
    store: EdgeStore,
) -> None:
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    query = SearchQuery(text="how is it described?", book_ids=COURSE, audience=None)
    for subject in ("oven", "tray", "gear"):
        found = (await retriever.search(query, earlier=[f"the {subject}"])).results
        assert found[0].source_file == f"{subject}.md"
    halves = await retriever.search(query, earlier=["the oven \ud800"])
    assert halves.results[0].source_file == "oven.md"
