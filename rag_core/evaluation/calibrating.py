"""Measures from which confidence on it is right to answer, for one embedder and one reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.agent.agent import STANDALONE
from rag_core.agent.confidence.judgement import Judge
from rag_core.agent.followup import earlier_questions, search_text
from rag_core.agent.tool import Searches
from rag_core.books.book import BookIds
from rag_core.errors import ConfigurationError
from rag_core.evaluation.measures import auc
from rag_core.evaluation.question_set import QuestionSet, SetQuestion
from rag_core.evaluation.retrieval_quality import BOOK, Told
from rag_core.evaluation.threads import thread_before
from rag_core.reading.estimate import FEATURES, NOTHING, Estimate, Features
from rag_core.retrieval.cosines import scale_of
from rag_core.retrieval.query import DEFAULT_LIMIT, MIN_TEXT, SearchQuery

ANSWERED = 0.96
"""The share of what the pages answer that the lowest cut-off lets through, over all sets."""
LEAST_OF_A_KIND = 20
"""Questions of each kind without which nothing is learnt."""
FALSELY_SURE = 0.08
"""The share of what the pages do not answer, of near questions, that is answered all the same."""
STEADYING = 5.0
"""How strongly the weights are held back, so that a small set does not carry them away."""
WEIGHT = 2_000.0
"""Of all sets together, however many questions they have."""
STEPS = 50
LOWEST = 0.005
"""The lowest cut-off there is, and the step between those that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was seen for one question of one set."""

    of: str
    features: Features
    is_answerable: bool
    is_near: bool
    """Whether it was asked of its own set: what other sets ask is seldom near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFigures:
    """How a calibration does on one set."""

    of: str
    answerable: int
    answered: float
    unanswerable: int
    refused: float
    auc: float


async def observed(
    question_set: QuestionSet,
    questions: Sequence[SetQuestion],
    retriever: Searches,
    judge: Judge,
    *,
    name: str,
    told: Told = lambda done, of: None,
) -> list[Observation]:
    """What the passages show for each question, searched as the agent searches. A question of
    another set has no answer in these pages."""
    seen = []
    own = {id(question) for question in question_set.questions}
    for number, question in enumerate(questions, start=1):
        features = await features_for(question, retriever, judge)
        is_near = id(question) in own
        seen.append(
            Observation(
                of=name,
                features=features,
                is_answerable=question.answerable and is_near,
                is_near=is_near,
            )
        )
        told(number, len(questions))
    return seen


async def features_for(question: SetQuestion, retriever: Searches, judge: Judge) -> Features:
    thread = thread_before(question)
    text = search_text(question.question, last=str(thread.metadata[STANDALONE]), section="")
    if len(text.strip()) < MIN_TEXT:
        return NOTHING
    query = SearchQuery(text=text, book_ids=BookIds([BOOK]), audience=None, limit=DEFAULT_LIMIT)
    found = await retriever.search(query, earlier=earlier_questions(thread.turns))
    return (await judge.judge(text, found.results)).features


def calibrated(
    seen: Sequence[Observation], *, embedder: str, reader: str, measured_on: str
) -> Estimate:
    """The weights and cut-offs that these observations ask for; every set weighs the same."""
    for kind, word in ((True, "answerable"), (False, "not answerable")):
        count = sum(one.is_answerable is kind for one in seen)
        if count < LEAST_OF_A_KIND:
            raise ConfigurationError(
                f"There are {count} questions that are {word}; it takes {LEAST_OF_A_KIND} of each"
                " kind to measure cut-offs."
            )
    intercept, *weights = fitted(seen)
    fit = Estimate(
        embedder=embedder,
        reader=reader,
        measured_on=measured_on,
        floor=scale_of(embedder).related,
        intercept=round(intercept, 3),
        weights={name: round(weight, 3) for name, weight in zip(FEATURES, weights, strict=True)},
        low=LOWEST,
        medium=LOWEST,
        high=LOWEST,
    )
    return with_cut_offs(fit, seen)


def with_cut_offs(fit: Estimate, seen: Sequence[Observation]) -> Estimate:
    """Refused is what hardly any answerable question is below; sure is what hardly any question
    about something near is above; the higher half of these answers is called highly sure."""
    low = highest_passing(fit, [one for one in seen if one.is_answerable], ANSWERED)
    near = [one for one in seen if not one.is_answerable and one.is_near]
    sure = [fit.probability(one.features) for one in near or seen if not one.is_answerable]
    medium = max(low, round(float(np.quantile(sure, 1.0 - FALSELY_SURE)), 3))
    above = [p for one in seen if (p := fit.probability(one.features)) >= medium]
    high = round(float(np.median(above)), 3) if above else 1.0
    return fit.model_copy(update={"low": low, "medium": medium, "high": max(medium, high)})


def highest_passing(fit: Estimate, answerable: Sequence[Observation], share: float) -> float:
    """The highest cut-off that lets this share through, the mean of all sets."""
    sure = {
        name: np.array([fit.probability(one.features) for one in answerable if one.of == name])
        for name in dict.fromkeys(one.of for one in answerable)
    }
    tried = np.arange(LOWEST, 1.0, LOWEST)
    passed = [np.mean([np.mean(each >= cut) for each in sure.values()]) for cut in tried]
    enough = [cut for cut, part in zip(tried, passed, strict=True) if part >= share]
    return round(float(max(enough, default=LOWEST)), 3)


def fitted(seen: Sequence[Observation]) -> list[float]:
    """Logistic weights by Newton's steps, the intercept first."""
    rows = np.array([[1.0, *(getattr(one.features, name) for name in FEATURES)] for one in seen])
    outcome = np.array([float(one.is_answerable) for one in seen])
    sets = [one.of for one in seen]
    weight = np.array([WEIGHT / len(set(sets)) / sets.count(name) for name in sets])
    scale = np.array([1.0, *(rows[:, 1:].std(axis=0) + 1e-9)])
    penalty = STEADYING * np.diag([0.0, *[1.0] * len(FEATURES)])
    found: list[float] = (newton(rows / scale, outcome, weight, penalty) / scale).tolist()
    return found


def newton(
    rows: NDArray[np.float64],
    outcome: NDArray[np.float64],
    weight: NDArray[np.float64],
    penalty: NDArray[np.float64],
) -> NDArray[np.float64]:
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-(rows @ found)))
        slope = rows.T @ (weight * (outcome - chance)) - penalty @ found
        bend = (rows * (weight * chance * (1.0 - chance))[:, None]).T @ rows + penalty
        step = np.linalg.solve(bend + 1e-9 * np.eye(len(found)), slope)
        found = found + step
        if float(np.abs(step).max()) < 1e-8:
            break
    return found


def figures_of(estimate: Estimate, seen: Sequence[Observation]) -> list[SetFigures]:
    """What would be answered and refused of each set, by confidence alone."""
    return [
        set_figures(name, estimate, [one for one in seen if one.of == name])
        for name in dict.fromkeys(one.of for one in seen)
    ]


def set_figures(name: str, estimate: Estimate, seen: Sequence[Observation]) -> SetFigures:
    yes = [estimate.probability(one.features) for one in seen if one.is_answerable]
    no = [estimate.probability(one.features) for one in seen if not one.is_answerable]
    return SetFigures(
        of=name,
        answerable=len(yes),
        answered=sum(p >= estimate.low for p in yes) / len(yes) if yes else 0.0,
        unanswerable=len(no),
        refused=sum(p < estimate.low for p in no) / len(no) if no else 0.0,
        auc=auc(yes, no),
    )
