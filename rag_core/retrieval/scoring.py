"""One score out of several signals, so that a passage strong in one is not lost by another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_core.retrieval.candidates import Candidate, Placed, merged, pages_in_turn
from rag_core.retrieval.codes import code_shares, codes_in
from rag_core.retrieval.cosines import USUAL
from rag_core.retrieval.coverage import Wording, shares
from rag_core.retrieval.likeness import Likeness
from rag_core.retrieval.passage_kinds import TEXT, WEIGHT, kinds_asked_for

P = TypeVar("P", bound=Hashable)
Signals = NDArray[np.float64]
"""A row for each signal, a column for each point: meaning for each text, the question first, then
its thread; then words for each. NaN where a signal was not asked, or did not know the point; `fmax`
and `fmin` leave those out."""

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
    known: Signals, *, room: int, cosine_weight: float = USUAL.weight
) -> NDArray[np.bool_]:
    """Which of more may be among the best `room`, while some are known by one signal only.

    Each signal brought its own best, so whatever it did not bring has no more than the last of
    these. Nobody need ask how much less, where even that would not do."""
    by_signal = signal_weights(len(known) // 2, cosine_weight)
    last = np.fmax(np.fmin.reduce(known, axis=1), 0.0)
    least = added(known, cosine_weight)
    most = least + (by_signal * last) @ np.isnan(known)
    enough = np.partition(least, -room)[-room] - ROUNDING
    kept: NDArray[np.bool_] = most >= enough
    return kept


def added(signals: Signals, cosine_weight: float = USUAL.weight) -> NDArray[np.float64]:
    """The weighed sum of the signals for each point: row by row, since a product of matrices rounds
    the same numbers in another way where there are more of them."""
    by_signal = signal_weights(len(signals) // 2, cosine_weight)
    weighed = np.fmax(signals, 0.0) * by_signal[:, np.newaxis]
    total: NDArray[np.float64] = weighed.sum(axis=0)
    return total


@cache
def signal_weights(texts: int, cosine_weight: float) -> NDArray[np.float64]:
    """Of meaning for each text, then of words for each."""
    by_text = np.array((1.0, THREAD_WEIGHT))[:texts]
    weights = np.concatenate((cosine_weight * by_text, WORDS_WEIGHT * by_text))
    weights.setflags(write=False)  # all searches have the same
    return weights


def ranked(points: Sequence[P], signals: Signals, cosine_weight: float = USUAL.weight) -> Ranked[P]:
    """Scores are added, not ranks: how far ahead the first is counts as well.

    Words are BM25 divided by the most that any passage could reach: 0 to 1."""
    scores = added(signals, cosine_weight)
    best = np.argsort(-scores, kind="stable")
    nearness = signals[0, best]
    similarities = np.where(np.isnan(nearness), 0.0, nearness)
    return Ranked(
        [points[at] for at in best.tolist()], similarities.tolist(), scores[best].tolist()
    )


def ranked_alone(cosines: Mapping[int, float], cosine_weight: float = USUAL.weight) -> Ranked[int]:
    """The same where meaning alone is asked, for a few points in a fourth of the time."""
    scores = {at: cosine_weight * max(cosine, 0.0) for at, cosine in cosines.items()}
    best = sorted(scores, key=lambda at: (-scores[at], at))
    return Ranked(best, [cosines[at] for at in best], [scores[at] for at in best])


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Candidates with the scores of their own wording."""

    candidates: Sequence[Candidate]
    scores: NDArray[np.float64]
    threshold: float
    weights: NDArray[np.float64]
    """By what each candidate is: less for exercises, tables of contents and the like."""
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
        scores = with_pages(self.candidates, self.scores + LIKENESS_WEIGHT * alike) * self.weights
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
        weights=kind_weights(candidates, question),
        in_turn=in_turn,
    )


def kind_weights(candidates: Sequence[Candidate], question: str) -> NDArray[np.float64]:
    """Passages that tell nothing themselves go behind those that do, unless they are asked for."""
    full = kinds_asked_for(question) | {TEXT}
    return np.array([1.0 if each.kind in full else WEIGHT for each in candidates])


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
