"""Which words of a passage a claim rests on: the unit that shares most with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rag_core.agent.language.blocks import INLINE_CODE
from rag_core.agent.language.languages import SMALL_WORDS, language_of
from rag_core.agent.language.reading import read
from rag_core.agent.language.words import FUNCTION_WORDS, content, stem_of, words
from rag_core.agent.verification.claims import Claim, Passage
from rag_core.agent.verification.quantities import CURRENCIES, UNITS

SHORTEST_QUOTE = 12
"""Characters; fewer are found in any passage."""
MARKS = re.compile(r"[*`#>]|~~|(?<!\w)_+|_+(?!\w)")
LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+", re.MULTILINE)
JOINING = re.compile(r"^\W*\w+,\s+")
"""A word that joins a sentence to what was said before: `Additionally,`, `Yes,`."""
QUOTE_LENGTH = 300
LEAST_COPIED = 4
"""Words in a row; fewer stand side by side by chance."""
LEAST_SHARED = 0.4
"""The share of a sentence's words that a passage must have, where the sentence cites none."""
TELLING = 60
"""Characters of a text that would have some small words of its language."""
NEARLY = 0.7
"""How near a passage that is cited beside comes to the best one and is taken in its place."""


@lru_cache(maxsize=1_024)
def bare(text: str) -> str:
    """A text in one line, without Markdown marks and without regard to large and small letters."""
    return " ".join(MARKS.sub("", LIST_MARK.sub("", text)).replace("|", " ").casefold().split())


def stands_word_for_word(sentence: str, passages: Sequence[Passage]) -> bool:
    said = bare(sentence).rstrip(".!?…:; ")
    if len(said) < SHORTEST_QUOTE:
        return False
    pattern = re.compile(rf"(?<!\w){re.escape(said)}(?!\w)")
    return any(pattern.search(bare(passage.whole)) for passage in passages)


def added_words(sentence: str, text: str) -> str:
    """What was put into a sentence that else stands in the evidence word for word."""
    known = stems_of(text)
    spoken = words(JOINING.sub("", LIST_MARK.sub("", sentence)))
    added = [word for word in spoken if not is_small(word) and stem_of(word) not in known]
    rest = [word for word in spoken if word not in added]
    if not added or len(rest) < LEAST_COPIED:
        return ""
    is_copy = f" {' '.join(rest)} " in f" {' '.join(words(text))} "
    return ", ".join(added) if is_copy else ""


def is_small(word: str) -> bool:
    """Whether a word says little, or is compared as a number with its unit."""
    return (
        word in FUNCTION_WORDS or len(word) == 1 or word[0].isdigit() or word in UNITS | CURRENCIES
    )


@lru_cache(maxsize=1_024)
def stems_of(text: str) -> frozenset[str]:
    return frozenset(map(stem_of, words(text)))


def shares_words(claim: Claim) -> bool:
    """Whether a claim has anything in common with its evidence."""
    own = set(content(claim.text))
    return not own or any(own & content_of(passage.whole) for passage in claim.passages)


@lru_cache(maxsize=1_024)
def content_of(text: str) -> frozenset[str]:
    return frozenset(content(text))


def words_for(sentence: str, passage: Passage) -> str:
    """The sentence, item, row or line of a passage that backs this one."""
    wanted = set(content(sentence))
    units = read(passage.text)
    if not units:
        return ""
    best, _ = max(units, key=lambda unit: overlap(wanted, unit[1]))
    return best if len(best) <= QUOTE_LENGTH else best[: QUOTE_LENGTH - 1] + "…"


def overlap(wanted: set[str], unit: frozenset[str]) -> float:
    """How much of a claim a unit has; of two that have the same, the shorter one."""
    common = len(wanted & unit)
    return common - 0.02 * len(unit) if common else 0.0


def backing(
    text: str, evidence: Sequence[Passage], *, beside: Sequence[int], is_foreign: bool
) -> tuple[Passage, ...]:
    """The passage that a sentence without a marker rests on: the one that shares most words with
    it, or one nearly as good that is cited beside it."""
    wanted = set(content(text))
    near = tuple(passage for passage in evidence if passage.rank in beside)
    if not wanted or is_foreign:
        return near[:1]
    shares = {p.rank: len(wanted & content_of(p.whole)) / len(wanted) for p in evidence}
    best = max(shares.values(), default=0.0)
    if best < LEAST_SHARED:
        return ()
    fitting = [
        p for p in (*near, *evidence) if shares[p.rank] >= (NEARLY * best if p in near else best)
    ]
    return tuple(fitting[:1])


def is_in_another_language(draft: str, evidence: Sequence[Passage]) -> bool:
    """Whether a whole draft is written in another language than its evidence, as far as their
    small words tell: where its own is not known, it has none of theirs."""
    prose = INLINE_CODE.sub(" ", draft)
    own = language_of(prose)
    there = language_of("\n".join(passage.text for passage in evidence))
    if own is not None or there is None:
        return own != there and there is not None
    return len(prose) >= TELLING and not set(SMALL_WORDS[there].split()) & set(words(prose))
