"""The two things that a question compares, and what tells of each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.agent.language.words import content
from rag_core.agent.quoting.asking import Asked
from rag_core.agent.quoting.judge import Judge, Scored
from rag_core.agent.quoting.pieces import Unit

COMPARING = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:differences?|distinctions?|distinguish|choose|choice|comparison)\b[^?.!]*?"
        r"\bbetween (.+?) and (.+?)[?.!]*$",
        r"\bcompare (.+?) (?:and|with|to|vs\.?|versus) (.+?)[?.!]*$",
        r"\bhow (?:does|do|is|are) (.+?) (?:differ|different|compare)"
        r" (?:from|to|with) (.+?)[?.!]*$",
        r"^\W*(?:what is |what's )?(.+?) (?:vs\.?|versus) (.+?)[?.!]*$",
    )
)
MOST_WORDS = 5
"""Of one side; what is longer is no name of a thing."""


def sides_of(question: str) -> tuple[str, str] | None:
    """The two things that are compared, where each has words that the other has not."""
    for pattern in COMPARING:
        if found := pattern.search(question.strip()):
            one, other = found[1], found[2]
            if all(map(own_words, (one, other), (other, one))):
                return one, other
            return None
    return None


def own_words(side: str, other: str) -> frozenset[str]:
    """What tells one side from the other; nothing where it says too much to be a name."""
    said = frozenset(content(side))
    return said - frozenset(content(other)) if len(said) <= MOST_WORDS else frozenset()


def both_told(sides: tuple[str, str], units: Sequence[Unit]) -> list[Unit]:
    """The piece that tells best of each side and not of the other; empty where one has none: then
    what tells of both is found as for any question."""
    one, other = sides
    named, others = own_words(one, other), own_words(other, one)
    found = (best_on(one, named, others, units), best_on(other, others, named, units))
    told = [each.unit for each in found if each is not None]
    return told if len(told) == len(sides) else []


def best_on(
    side: str, named: frozenset[str], others: frozenset[str], units: Sequence[Unit]
) -> Scored | None:
    asked = Asked.read(f"What is {side}?")
    judge = Judge(asked, units)
    about = [
        judge.scored(unit)
        for unit in units
        if tells_of(unit, named) and not tells_of(unit, others) and not asked.excludes(unit)
    ]
    return max(about, key=lambda one: one.score, default=None)


def tells_of(unit: Unit, named: frozenset[str]) -> bool:
    return named <= frozenset(content(unit.text))
