"""How sure the evidence makes us of an answer, as it was measured for one embedder."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib import resources

from pydantic import BaseModel, ConfigDict

from rag_core.agent.confidence.inquiry import Inquiry
from rag_core.agent.confidence.near_miss import names_in, read_for, stand_in, words_in
from rag_core.agent.language.subject import subject_of
from rag_core.retrieval.codes import codes_in, pattern_of, plain_names
from rag_core.retrieval.coverage import coverage as wording
from rag_core.retrieval.results import SearchResult

READ_PASSAGES = 5
"""How many of the nearest passages are read."""
CODE_FOUND = 2.0
"""Added to the log odds where a code that is asked about (K44, BS-405) stands in a passage: what
such a name means is nowhere in its letters, so similarity knows nothing of it. A judgement."""
NAMES_FOUND = 0.5
"""The same for the names of a question; they stand in more passages than answer it."""
FEW_CODES = 2
"""So many must all stand there; of more, as in a pasted trace, half."""
JUST_BELOW = 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSignals:
    """What the passages show, in figures."""

    similarity: float
    """Of the nearest passage."""
    wording: float
    """Which share of the question's wording the best passage has."""
    coverage: float
    """Which share of the words that the question is about the best passage has."""
    has_code: bool = False
    """Whether most of the codes that are asked about stand in one of the passages."""
    has_names: bool = False
    """Whether the question has names, and one of the passages has them all."""
    refuted: bool = False
    """Whether the passages say the opposite, or nothing of the kind that is asked for."""
    leave: float = 1.0
    """What the signs of a near miss leave of how sure one is: 0 to 1."""


class Calibration(BaseModel):
    """Cut-offs as they were measured for one embedder, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: str
    measured_on: str
    floor: float
    intercept: float
    similarity: float
    wording: float
    coverage: float
    low: float
    medium: float
    high: float

    @classmethod
    def shipped(cls) -> Calibration:
        """The measurement of the local embedder."""
        file = resources.files("rag_core.agent.confidence") / "calibration.json"
        return cls.model_validate(json.loads(file.read_text(encoding="utf-8")))

    def odds(self, signals: EvidenceSignals) -> float:
        """The log odds that the passages hold the answer, before they are read."""
        return (
            self.intercept
            + self.similarity * signals.similarity
            + self.wording * signals.wording
            + self.coverage * signals.coverage
            + CODE_FOUND * signals.has_code
            + NAMES_FOUND * signals.has_names
        )

    def probability(self, signals: EvidenceSignals) -> float:
        """How probable it is that the passages hold the answer.

        Signs of a near miss take from what is above the lowest cut-off, and do not reach below
        it: what may be an answer is shown with a caution. Only what the passages refute is
        refused."""
        least = math.log(self.low / (1.0 - self.low))
        above = self.odds(signals) - least
        if signals.refuted:
            return chance(least + min(above, 0.0)) * JUST_BELOW
        return chance(least + above * signals.leave if above > 0.0 else least + above)


def chance(odds: float) -> float:
    """Log odds as a probability."""
    return 1.0 / (1.0 + math.exp(-odds))


def evidence_for(inquiry: Inquiry, results: Sequence[SearchResult]) -> EvidenceSignals:
    """What these passages show for a question; there is at least one."""
    asked = inquiry.text
    nearest = sorted(results, key=lambda result: -result.similarity_score)[:READ_PASSAGES]
    texts = [f"{r.page_title}\n{r.section_heading}\n{r.text}" for r in nearest]
    inquiry = inquiry.spelt_as(texts)
    worded = best_of(wording(form, texts) for form in inquiry.forms)
    held = [words_in(result) for result in nearest]
    covered = best_of(coverage(form, held) for form in inquiry.forms)
    signs = read_for(inquiry, nearest)
    names = names_in(inquiry.text)
    return EvidenceSignals(
        similarity=nearest[0].similarity_score,
        wording=max(worded),
        coverage=max(covered),
        has_code=any(has_codes(form, texts) for form in inquiry.forms),
        has_names=bool(names) and any(stand_in(names, text) for text in texts),
        refuted=signs.refutes or names_nothing(asked, results),
        leave=signs.leave,
    )


def best_of(shares: Iterable[Sequence[float]]) -> list[float]:
    """For each passage the best that any form of the question reaches."""
    return [max(each) for each in zip(*shares, strict=True)]


def has_codes(question: str, texts: Sequence[str]) -> bool:
    """Whether the question names codes, and one of the texts has most of them."""
    asked = [pattern_of(code) for code in codes_in(question)]
    held = (sum(code.search(text.lower()) is not None for code in asked) for text in texts)
    needed = len(asked) if len(asked) <= FEW_CODES else len(asked) / 2
    return bool(asked) and max(held, default=0) >= needed


def names_nothing(asked: str, results: Sequence[SearchResult]) -> bool:
    """Whether codes are asked about, and none of them stands anywhere in what was found: a passage
    that has a code is found by it."""
    names = [pattern_of(name) for name in plain_names(asked)]
    if not names:
        return False
    texts = [f"{r.page_title}\n{r.section_heading}\n{r.text}".lower() for r in results]
    return not any(name.search(text) for name in names for text in texts)


def coverage(question: str, held: Sequence[Collection[str]]) -> list[float]:
    """For each passage the share of what the question is about that it has."""
    asked = set(subject_of(question))
    return [len(asked.intersection(words)) / len(asked) if asked else 0.0 for words in held]
