"""Whether a sentence is one of the evidence's sentences with a fact exchanged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from rag_core.agent.checks.numbers import DIGITS, WORDS, plain
from rag_core.agent.checks.polarity import DENIALS, NO_DENIAL, REFUSALS, WEEKDAYS
from rag_core.agent.checks.quantities import MONTHS, unit_named
from rag_core.agent.language.blocks import INLINE_CODE
from rag_core.agent.language.stems import stem
from rag_core.agent.language.words import FUNCTION_WORDS, WORD, content

COPIED = 0.7
"""The share of its words that a sentence must have in the order of another to be its copy."""
AS_GOOD = 0.9
"""Another sentence that is copied nearly as well may be the one that was meant."""
SHORTEST_COPY = 4
LONGEST = 4
"""Words that are exchanged at once; where more are missing, something was left out."""
BEFORE = 3
"""Words before the repeated part that may deny it: `refuses to use a spoon`."""
DENYING = DENIALS | {"without"}
CALENDAR = WEEKDAYS | frozenset(map(stem, MONTHS.split()))
SIGN = re.compile(r"%|°\s?[CF]?|[€$£]")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a sentence as it is compared, and whether it is written large."""

    plain: str
    is_large: bool


def changed_in_place(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether the evidence has this very sentence, but with another number, unit, day, name or
    the opposite in its place, or with something added before or behind."""
    said = words_of(sentence)
    if len(said) < SHORTEST_COPY:
        return False
    copies = [copy for one in evidence if (copy := Copy.of(said, words_of(one))) is not None]
    best = max((copy.share for copy in copies), default=0.0)
    near = [copy for copy in copies if copy.share >= AS_GOOD * best]
    if not near:
        return False
    known = frozenset(stem for one in evidence for stem in content(one))
    return all(copy.is_changed or copy.added - known for copy in near)


@dataclass(frozen=True, slots=True)
class Copy:
    """A sentence beside the one that it repeats."""

    share: float
    is_changed: bool
    added: frozenset[str] = frozenset()
    """Words that stand before or behind the whole of the other sentence."""

    @classmethod
    def of(cls, said: Sequence[Word], held: Sequence[Word]) -> Copy | None:
        """None where too little is repeated."""
        if len({word.plain for word in said} & {word.plain for word in held}) < COPIED * len(
            {word.plain for word in said}
        ):
            return None
        matcher = SequenceMatcher(
            None, [word.plain for word in said], [word.plain for word in held], autojunk=False
        )
        share = sum(block.size for block in matcher.get_matching_blocks()) / len(said)
        if share < COPIED:
            return None
        begin, end = span_of(matcher, len(said))
        exchanged = (
            (said[i:j], held[max(k, begin) : min(m, end)])
            for kind, i, j, k, m in matcher.get_opcodes()
            if kind != "equal"
        )
        changes = [(own, others) for own, others in exchanged if len(others) <= LONGEST]
        turned = denials(said) != denials(held[max(0, begin - BEFORE) : end])
        return cls(
            share,
            any(
                is_exchange(own, others) or (turned and denials(own) != denials(others))
                for own, others in changes
            ),
            added_around(matcher, said, len(held)),
        )


def span_of(matcher: SequenceMatcher[str], length: int) -> tuple[int, int]:
    """From the first to the last word of the evidence's sentence that is repeated: what stands
    around was left out, which changes nothing. The word before may be the exchanged one."""
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    first, last = blocks[0], blocks[-1]
    begin = max(0, first.b - 1) if first.a else first.b
    ends_early = last.a + last.size < length
    return begin, last.b + last.size + (1 if ends_early else 0)


def added_around(matcher: SequenceMatcher[str], said: Sequence[Word], held: int) -> frozenset[str]:
    """What is said beyond both ends of the other sentence, small words left out."""
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    first, last = blocks[0], blocks[-1]
    before = said[: first.a] if first.b == 0 else ()
    behind = said[last.a + last.size :] if last.b + last.size == held else ()
    return frozenset(content(" ".join(word.plain for word in (*before, *behind))))


def is_exchange(own: Sequence[Word], others: Sequence[Word]) -> bool:
    """Whether what stands here says another fact than what stood there."""
    for kind in (numbers, units, days):
        new, old = kind(own), kind(others)
        if new and old and not new & old:
            return True
    return renamed(own, others)


def denials(part: Sequence[Word]) -> bool:
    """Denied once; two denials in one place cancel each other."""
    count = sum(
        word.plain in DENYING or word.plain.endswith("n't") or stem(word.plain) in REFUSALS
        for word in part
    )
    return count % 2 == 1


def numbers(part: Sequence[Word]) -> frozenset[str]:
    return frozenset(
        WORDS.get(word.plain) or plain(word.plain)
        for word in part
        if word.plain in WORDS or DIGITS.fullmatch(word.plain)
    )


def units(part: Sequence[Word]) -> frozenset[str]:
    named = (unit_named(word.plain) for word in part if len(word.plain) > 1 or word.plain in "%°gm")
    return frozenset(unit for unit in named if unit)


def days(part: Sequence[Word]) -> frozenset[str]:
    return frozenset(stem(word.plain) for word in part) & CALENDAR


def renamed(own: Sequence[Word], others: Sequence[Word]) -> bool:
    """One name for another: each written large, and not a small word at a sentence's start."""
    new, old = names(own), names(others)
    return len(own) <= len(others) + 1 and bool(new) and bool(old) and not new & old


def names(part: Sequence[Word]) -> frozenset[str]:
    return frozenset(
        word.plain for word in part if word.is_large and word.plain not in FUNCTION_WORDS
    )


@lru_cache(maxsize=2_048)
def words_of(sentence: str) -> tuple[Word, ...]:
    """The words and signs of a sentence in order; markup is left out."""
    bare = NO_DENIAL.sub(" ", INLINE_CODE.sub(lambda code: code["inside"], sentence))
    bare = bare.replace("’", "'")
    found = sorted([*WORD.finditer(bare), *SIGN.finditer(bare)], key=lambda match: match.start())
    return tuple(
        Word(text.lower().removesuffix("'s"), text[:1].isupper())
        for text in (match.group() for match in found)
    )
