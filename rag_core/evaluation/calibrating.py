"""Measures from which confidence on it is right to answer, for one embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.agent.agent import STANDALONE
from rag_core.agent.confidence.calibration import Calibration, EvidenceSignals, chance, evidence_for
from rag_core.agent.confidence.inquiry import Inquiry
from rag_core.agent.followup import earlier_questions, search_text
from rag_core.agent.tool import Searches
from rag_core.books.book import BookIds
from rag_core.conversation.message import Role
from rag_core.errors import ConfigurationError
from rag_core.evaluation.measures import auc
from rag_core.evaluation.question_set import QuestionSet, SetQuestion
from rag_core.evaluation.retrieval_quality import BOOK, Told
from rag_core.evaluation.threads import thread_before
from rag_core.retrieval.query import DEFAULT_LIMIT, MIN_TEXT, SearchQuery

ANSWERED = 0.96
"""The share of what the pages answer that the lowest cut-off lets through, over all sets."""
LEAST_OF_A_KIND = 20
"""Questions of each kind without which nothing is learnt."""
MEDIUM, HIGH = 0.3, 0.5
"""Probabilities from which an answer needs no caution, and from which it is called sure."""
FLOOR = 0.35
"""The similarity below which a section is no suggestion: two texts about other things reach it
seldom. It is a judgement, not a measurement."""
STEADYING = 5.0
"""How strongly the weights are held back, so that a small set does not carry them away."""
WEIGHT = 2_000.0
"""Of all sets together, however many questions they have."""
NOTHING = EvidenceSignals(similarity=0.0, wording=0.0, coverage=0.0)
"""What is seen where a search finds nothing, or there is nothing to search for."""
STEPS = 50
SIGNALS = ("similarity", "wording", "coverage")
LOWEST = 0.005
"""The lowest cut-off there is, and the step between those that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was seen for one question of one set."""

    of: str
    signals: EvidenceSignals
    is_answerable: bool


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
    *,
    name: str,
    told: Told = lambda done, of: None,
) -> list[Observation]:
    """What the passages show for each question, searched as the agent searches. A question of
    another set has no answer in these pages."""
    seen = []
    own = {id(question) for question in question_set.questions}
    for number, question in enumerate(questions, start=1):
        signals = await signals_for(question, retriever)
        is_answerable = question.answerable and id(question) in own
        seen.append(Observation(of=name, signals=signals, is_answerable=is_answerable))
        told(number, len(questions))
    return seen


async def signals_for(question: SetQuestion, retriever: Searches) -> EvidenceSignals:
    thread = thread_before(question)
    text = search_text(question.question, last=str(thread.metadata[STANDALONE]), section="")
    if len(text.strip()) < MIN_TEXT:
        return NOTHING
    query = SearchQuery(text=text, book_ids=BookIds([BOOK]), audience=None, limit=DEFAULT_LIMIT)
    found = await retriever.search(query, earlier=earlier_questions(thread.turns))
    inquiry = Inquiry(
        text=question.question,
        understood=text,
        said=tuple(m.content for m in thread.messages if m.role is not Role.SYSTEM),
    )
    return evidence_for(inquiry, found.results) if found.results else NOTHING


def calibrated(seen: Sequence[Observation], *, embedder: str, measured_on: str) -> Calibration:
    """The cut-offs and weights that these observations ask for; every set weighs the same."""
    for kind, word in ((True, "answerable"), (False, "not answerable")):
        count = sum(one.is_answerable is kind for one in seen)
        if count < LEAST_OF_A_KIND:
            raise ConfigurationError(
                f"There are {count} questions that are {word}; it takes {LEAST_OF_A_KIND} of each"
                " kind to measure cut-offs."
            )
    intercept, *weights = fitted(seen)
    fit = Calibration(
        embedder=embedder,
        measured_on=measured_on,
        floor=FLOOR,
        intercept=round(intercept, 3),
        **{name: round(weight, 3) for name, weight in zip(SIGNALS, weights, strict=True)},
        low=LOWEST,
        medium=MEDIUM,
        high=HIGH,
    )
    return with_cut_offs(fit, seen)


def with_cut_offs(fit: Calibration, seen: Sequence[Observation]) -> Calibration:
    """The highest of the lowest cut-offs that lets enough through, the mean of all sets."""
    answerable = [one for one in seen if one.is_answerable]
    sure = {
        name: np.array([chance(fit.odds(one.signals)) for one in answerable if one.of == name])
        for name in dict.fromkeys(one.of for one in answerable)
    }
    tried = np.arange(LOWEST, MEDIUM, LOWEST)
    passed = [np.mean([np.mean(each >= cut) for each in sure.values()]) for cut in tried]
    enough = [cut for cut, share in zip(tried, passed, strict=True) if share >= ANSWERED]
    return fit.model_copy(update={"low": round(float(max(enough, default=LOWEST)), 3)})


def fitted(seen: Sequence[Observation]) -> list[float]:
    """Logistic weights by Newton's steps, the intercept first. Signs of a near miss have no say:
    they come into play above the lowest cut-off only."""
    signals = np.array([[1.0, *(getattr(one.signals, name) for name in SIGNALS)] for one in seen])
    outcome = np.array([float(one.is_answerable) for one in seen])
    sets = [one.of for one in seen]
    weight = np.array([WEIGHT / len(set(sets)) / sets.count(name) for name in sets])
    scale = np.array([1.0, *(signals[:, 1:].std(axis=0) + 1e-9)])
    penalty = STEADYING * np.diag([0.0, *[1.0] * len(SIGNALS)])
    found: list[float] = (newton(signals / scale, outcome, weight, penalty) / scale).tolist()
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


def figures_of(calibration: Calibration, seen: Sequence[Observation]) -> list[SetFigures]:
    """What would be answered and refused of each set, by confidence alone."""
    return [
        set_figures(name, calibration, [one for one in seen if one.of == name])
        for name in dict.fromkeys(one.of for one in seen)
    ]


def set_figures(name: str, calibration: Calibration, seen: Sequence[Observation]) -> SetFigures:
    yes = [calibration.probability(one.signals) for one in seen if one.is_answerable]
    no = [calibration.probability(one.signals) for one in seen if not one.is_answerable]
    return SetFigures(
        of=name,
        answerable=len(yes),
        answered=sum(p >= calibration.low for p in yes) / len(yes) if yes else 0.0,
        unanswerable=len(no),
        refused=sum(p < calibration.low for p in no) / len(no) if no else 0.0,
        auc=auc(yes, no),
    )
