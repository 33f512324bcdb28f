"""One score out of several signals, so that a passage strong in one is not lost by another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_core.retrieval.candidates import Candidate, Placed, merged, pages_in_turn
from rag_core.retrieval.codes import code_shares, codes_in
from rag_core.retrieval.coverage import Wording, shares
from rag_core.retrieval.likeness import Likeness

P = TypeVar("P", bound=Hashable)
Row = Sequence[float]

COSINE_WEIGHT = 1.0
WORDS_WEIGHT = 0.6
COVERAGE_WEIGHT = 0.5
HEADINGS_WEIGHT = 0.25
"""The wording of the breadcrumb alone: a passage below the right heading need not repeat it."""
CODES_WEIGHT = 0.5
THREAD_WEIGHT = 0.6
"""What the asker's turns so far weigh, as one text, beside the last one alone."""
SECOND_WEIGHT = 0.5
"""What a page's second passage adds to its first. docs/retrieval.md tells how all were chosen."""
LEADERS, LIKENESS_WEIGHT = 3, 0.25
"""The likeness to the first few different texts: more of the same subject is seldom wrong."""
FEW = 32
"""Points that are put in order faster one by one than in rows."""
ROUNDING = 1e-9
"""Sums of the same numbers in another order are not quite equal."""
SHORT_PAGE = 2
"""Passages of a page that has too few for its second one to say anything."""


@dataclass(frozen=True, slots=True)
class Ranked(Generic[P]):
    """Points of a store, the best by meaning and words first."""

    points: list[P]
    similarities: list[float]
    """The cosine to the question itself."""
    scores: list[float]


def contenders(
    points: Sequence[P],
    cosines: Sequence[Mapping[P, float]],
    words: Sequence[Mapping[P, float]],
    *,
    room: int,
) -> Sequence[P]:
    """Those that may be among the best `room`, while some are known by one signal only.

    Each signal brought its own best, so whatever it did not bring has no more than the last of
    these. Nobody need ask how much less, where even that would not do."""
    if len(points) <= room:
        return points
    signals = [*cosines, *words]
    known = np.array([[each.get(point, np.nan) for point in points] for each in signals])
    last = np.array([max(0.0, min(each.values(), default=0.0)) for each in signals])
    weights = signal_weights(len(cosines))
    least = weights @ np.maximum(np.nan_to_num(known), 0.0)
    most = least + (weights * last) @ np.isnan(known)
    enough = np.partition(least, -room)[-room] - ROUNDING
    return [points[at] for at in np.flatnonzero(most >= enough).tolist()]


def signal_weights(texts: int) -> NDArray[np.float64]:
    """Of meaning for each text, then of words for each."""
    by_text = np.array((1.0, THREAD_WEIGHT))[:texts]
    return np.concatenate((COSINE_WEIGHT * by_text, WORDS_WEIGHT * by_text))


def ranked(points: Sequence[P], cosines: Sequence[Row], words: Sequence[Row]) -> Ranked[P]:
    """Scores are added, not ranks: how far ahead the first is counts as well.

    A row for each text, the question first, then its thread; in it a number for each point. Words
    are BM25 divided by the most that any passage could reach: 0 to 1."""
    if len(points) <= FEW and len(cosines) == 1:
        return few_ranked(points, cosines[0], words[0])
    meaning = np.array(cosines, dtype=np.float64).reshape(len(cosines), len(points))
    said = np.array(words, dtype=np.float64).reshape(meaning.shape)
    weights = np.array((1.0, THREAD_WEIGHT))[: len(cosines)]
    scores = weights @ (COSINE_WEIGHT * np.maximum(meaning, 0.0) + WORDS_WEIGHT * said)
    best = np.argsort(-scores, kind="stable")
    return Ranked(
        [points[at] for at in best.tolist()], meaning[0, best].tolist(), scores[best].tolist()
    )


def few_ranked(points: Sequence[P], cosines: Row, words: Row) -> Ranked[P]:
    """The same for a few points and no thread, in a tenth of the time."""
    scores = [
        COSINE_WEIGHT * max(cosine, 0.0) + WORDS_WEIGHT * word
        for cosine, word in zip(cosines, words, strict=True)
    ]
    best = sorted(range(len(points)), key=lambda at: -scores[at])
    return Ranked(
        [points[at] for at in best], [cosines[at] for at in best], [scores[at] for at in best]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Candidates with the scores of their own wording."""

    candidates: Sequence[Candidate]
    scores: NDArray[np.float64]
    threshold: float
    in_turn: bool
    """Whether pages take turns, or passages stand by their scores however many a page has."""

    @property
    def leaders(self) -> list[Hashable]:
        """The best of different texts."""
        leaders: dict[str, Hashable] = {}
        for at in best_first(self.scores):
            leaders.setdefault(self.candidates[at].content_hash, self.candidates[at].point)
            if len(leaders) == LEADERS:
                break
        return list(leaders.values())

    def placed(self, likeness: Likeness) -> list[Placed]:
        """Equal texts are merged."""
        alike = np.array([max(0.0, likeness.get(each.point, 0.0)) for each in self.candidates])
        scores = with_pages(self.candidates, self.scores + LIKENESS_WEIGHT * alike)
        known = scores.tolist()
        placed = (Placed(self.candidates[at], known[at]) for at in best_first(scores))
        ordered = merged(each for each in placed if each.candidate.nearness >= self.threshold)
        if not self.in_turn:
            return ordered
        return pages_in_turn(ordered, lambda each: each.candidate.page, lambda each: each.score)


def by_all_signals(
    candidates: Sequence[Candidate],
    *,
    question: str,
    thread: str | None,
    threshold: float = 0.0,
    in_turn: bool = False,
) -> Judgement:
    """The candidates judged by meaning, words, wording, headings and codes."""
    return Judgement(
        candidates=candidates,
        scores=with_wording(candidates, question, thread),
        threshold=threshold,
        in_turn=in_turn,
    )


def best_first(scores: NDArray[np.float64]) -> list[int]:
    best: list[int] = np.argsort(-scores, kind="stable").tolist()
    return best


def with_wording(
    candidates: Sequence[Candidate], question: str, thread: str | None
) -> NDArray[np.float64]:
    """The scores with the wording of the texts that were asked counted too, and the codes of the
    last one."""
    wording = Wording([each.headings for each in candidates] + [each.text for each in candidates])
    scores: NDArray[np.float64] = np.array([each.score for each in candidates])
    if codes := codes_in(question):
        scores = scores + CODES_WEIGHT * code_shares(codes, [each.passage for each in candidates])
    for text, weight in ((question, 1.0), (thread, THREAD_WEIGHT)):
        if text is not None:
            headed, own = np.split(wording.held_of(text), 2)
            said = shares(headed | own)
            scores = scores + weight * (COVERAGE_WEIGHT * said + HEADINGS_WEIGHT * shares(headed))
    return scores


def with_pages(candidates: Sequence[Candidate], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores, each with half of what its page's second passage has.

    On a short page each passage counts as its own second: it has nothing else to show, and a
    text that was cut in two stands neither above nor below a whole one for the cut alone."""
    pages = [candidate.page for candidate in candidates]
    known = scores.tolist()
    by_page: dict[tuple[str, str], list[float]] = defaultdict(list)
    for page, score in zip(pages, known, strict=True):
        by_page[page].append(score)
    seconds = {page: sorted(each)[-2] if each[1:] else 0.0 for page, each in by_page.items()}
    added = [
        score if candidate.total_chunks <= SHORT_PAGE else seconds[page]
        for candidate, page, score in zip(candidates, pages, known, strict=True)
    ]
    return scores + SECOND_WEIGHT * np.array(added)
