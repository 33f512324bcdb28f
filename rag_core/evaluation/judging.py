"""Judges an answer by the facts that it must have and the pages that it cites."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.evaluation.question_set import SetQuestion

ANSWERED = frozenset({Outcome.COMPLETED, Outcome.LOW_CONFIDENCE})
MARKER = re.compile(r"\[\d+\]")
ESCAPE = re.compile(r"\\(?=\W)")
MARKUP = str.maketrans(dict.fromkeys("*_`#>|", " "))
TYPOGRAPHY = str.maketrans({"’": "'", "–": "-", "—": "-"})
WORD = re.compile(r"\w+")


class Verdict(StrEnum):
    """What came of one question."""

    RIGHT = "right"
    """Every fact stands in the answer, and a right page is cited."""
    FOUND = "found"
    """Every fact stands in the answer, which cites other pages."""
    PAGE = "page"
    """A right page is cited, and a fact is missing."""
    WRONG = "wrong"
    """Answered, with neither."""
    REFUSED = "refused"
    CAUTIONED = "cautioned"
    """Not covered, and answered with the word that this may not be it."""
    ANSWERED = "answered"
    """Not covered, and answered as if it were."""


COVERED = (Verdict.RIGHT, Verdict.FOUND, Verdict.PAGE, Verdict.WRONG, Verdict.REFUSED)
NOT_COVERED = (Verdict.REFUSED, Verdict.CAUTIONED, Verdict.ANSWERED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict on one answer, and of an answer to a covered question its length and focus."""

    verdict: Verdict
    words: int | None = None
    focus: float | None = None
    """The share of its words that the supporting words have."""


def judged(question: SetQuestion, response: AgentResponse, cited: Collection[str]) -> Judged:
    """`cited`: the pages of the footnotes."""
    is_answer = response.outcome in ANSWERED and bool(response.citations)
    if not is_answer:
        return Judged(verdict=Verdict.REFUSED)
    if not question.answerable:
        is_sure = response.outcome is Outcome.COMPLETED
        return Judged(verdict=Verdict.ANSWERED if is_sure else Verdict.CAUTIONED)
    answer = plain(response.answer)
    has_facts = all(any(holds(answer, fact) for fact in group) for group in question.must)
    is_on_page = not question.relevant_ids.isdisjoint(cited)
    words, known = WORD.findall(answer), set(WORD.findall(plain(question.support)))
    return Judged(
        verdict=verdict_on(has_facts=has_facts, is_on_page=is_on_page),
        words=len(words),
        focus=sum(word in known for word in words) / len(words) if words and known else None,
    )


def verdict_on(*, has_facts: bool, is_on_page: bool) -> Verdict:
    if has_facts:
        return Verdict.RIGHT if is_on_page else Verdict.FOUND
    return Verdict.PAGE if is_on_page else Verdict.WRONG


def plain(text: str) -> str:
    """Text without footnote markers, Markdown and capitals, its words one space apart."""
    bare = ESCAPE.sub(" ", MARKER.sub(" ", text)).translate(MARKUP)
    return " ".join(unicodedata.normalize("NFKC", bare).casefold().translate(TYPOGRAPHY).split())


def holds(answer: str, fact: str) -> bool:
    """Whether a plain text has a fact, as the beginning of a word and never as a part of a number:
    `5` is not in `15` nor in `52`, `averag` is in `averaging`."""
    wanted = plain(fact)
    before = r"(?<!\w)" if wanted[:1].isalnum() else ""
    after = r"(?!\w)" if wanted[-1:].isdigit() else ""
    return re.search(f"{before}{re.escape(wanted)}{after}", answer) is not None
