"""Whether a sentence denies what its evidence says, or turns it into its opposite."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rag_core.agent.language.words import content, stems, words

DENYING = "not no never none neither nor cannot nobody nothing nowhere hardly"
DENIALS = frozenset(DENYING.split())
REFUSING = "refuse fail forbid prohibit prevent deny reject unable impossible lack"
REFUSALS = frozenset(stems(REFUSING))
WEEKDAYS = frozenset(stems("monday tuesday wednesday thursday friday saturday sunday"))
OPPOSITES = (
    ("above", "below"), ("before", "after"), ("more", "less"), ("more", "fewer"),
    ("increase", "decrease"), ("increase", "reduce"), ("enable", "disable"),
    ("minimum", "maximum"), ("earlier", "later"), ("faster", "slower"), ("larger", "smaller"),
    ("higher", "lower"), ("longer", "shorter"), ("always", "never"), ("include", "exclude"),
    ("required", "optional"), ("on", "off"), ("accept", "refuse"), ("allow", "forbid"),
    ("with", "without"),
)  # fmt: skip
CLAUSE_END = re.compile(
    r"[,;:()]|\s[–—-]\s|\b(?:but|and|because|which|so|while|whereas|although|though|unless|if|when"
    r"|since)\b",
    re.IGNORECASE,
)
SWITCHED = re.compile(r"\b(?:switch|turn|power)\w*\b", re.IGNORECASE)
NO_DENIAL = re.compile(
    r"\b(?:no|not|never) (?:more|less|fewer|later|earlier|sooner|longer|[a-z]+er) than\b"
    r"|\bnot only\b|\bfor no reason\b|\bwith no\b"
    r"|\bno (?:matter|doubt|wonder)\b|\bif not\b|\bor not\b",
    re.IGNORECASE,
)
"""Bounds and set phrases: `no deeper than 5 cm` says how deep it is."""
CONDITION = re.compile(r"^\W*(?:(?:and|but|so) )?(?:if|unless|when(?:ever)?|without|until)\b", re.I)
LEAST_SHARED = 2
SAME_CLAUSE = 0.6


@lru_cache(maxsize=2_048)
def clauses_of(text: str) -> tuple[str, ...]:
    """The parts of a sentence that can be true or false by themselves."""
    return tuple(part for part in CLAUSE_END.split(text) if len(meaning(part)) >= LEAST_SHARED)


def polarity_stands(sentence: str, evidence: Iterable[str]) -> bool:
    """Whether each clause agrees with the clause of the evidence that it is nearest to."""
    held = [clause for one in evidence for clause in clauses_of(one)]
    return all(
        agrees(clause, held) for clause in clauses_of(claimed(sentence)) or (claimed(sentence),)
    )


def claimed(sentence: str) -> str:
    """The sentence without a condition that it begins with: that is supposed, not claimed."""
    if not CONDITION.match(sentence):
        return sentence
    _, _, rest = sentence.partition(",")
    return rest or sentence


def agrees(clause: str, held: list[str]) -> bool:
    said = meaning(clause)
    near = [other for other in held if is_near(said, meaning(other))]
    if not near:
        return True
    most = max(nearness(said, meaning(other)) for other in near)
    nearest = [other for other in near if nearness(said, meaning(other)) == most]
    return any(
        is_denied(clause) == is_denied(other) and not opposes(clause, other) for other in nearest
    )


def is_near(one: frozenset[str], other: frozenset[str]) -> bool:
    both = len(one & other)
    return both >= LEAST_SHARED and both / min(len(one), len(other)) >= SAME_CLAUSE


def nearness(one: frozenset[str], other: frozenset[str]) -> tuple[float, float]:
    both = len(one & other)
    return both / min(len(one), len(other)), both / len(one | other)


@lru_cache(maxsize=4_096)
def meaning(clause: str) -> frozenset[str]:
    """The words of a clause without those that only deny."""
    return frozenset(content(clause)) - DENIALS - REFUSALS


@lru_cache(maxsize=4_096)
def is_denied(clause: str) -> bool:
    """Denied once: two denials, or a denial with an exception, cancel each other."""
    clause = NO_DENIAL.sub(" ", clause)
    spoken = [word.removesuffix("'s") for word in words(clause)]
    denies = any(word in DENIALS or word.endswith("n't") for word in spoken)
    refuses = any(stem in REFUSALS for stem in stems(clause))
    excepts = denies and ("except" in spoken or "only" in spoken)
    return denies ^ refuses ^ excepts


def opposes(clause: str, other: str) -> bool:
    """Whether one clause has a word where the other has only its opposite, or another weekday."""
    days, other_days = (set(stems(one)) & WEEKDAYS for one in (clause, other))
    if days and other_days and not days & other_days:
        return True
    one, two = set(words(clause)), set(words(other))
    for first, second in OPPOSITES:
        if first == "on" and not (SWITCHED.search(clause) and SWITCHED.search(other)):
            continue
        for left, right in ((first, second), (second, first)):
            if left in one and right in two and right not in one and left not in two:
                return True
    return False
