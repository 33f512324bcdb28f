"""Words of a question that are misspelt, by the words of the evidence."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rag_core.agent.language.words import says_something, stem_of, words

SHORTEST = 6
"""With fewer letters a slip makes another word: steam and stream, three and there."""
LONG = 8
"""Letters of a word in which one may be exchanged: prevent and present are two words."""
SPELT = re.compile(rf"(?<![\w'’-])[^\W\d_]{{{SHORTEST},}}(?![\w'’-])")


def corrected(question: str, texts: Sequence[str]) -> str:
    """The question with words that stand nowhere written as those that they are one slip from."""

    def meant(found: re.Match[str]) -> str:
        word = found.group().lower()
        # Nearly every word stands in one of the first texts: the others are not looked through.
        if not says_something(word) or any(word in words(text) for text in texts):
            return found.group()
        known = {word for text in texts for word in words(text)}
        if stem_of(word) in set(map(stem_of, known)):
            return found.group()
        return nearest(word, known) or found.group()

    return SPELT.sub(meant, question)


def nearest(word: str, known: Collection[str]) -> str:
    """The word that begins alike and is one slip from this one; empty: there is none."""
    return min((other for other in known if is_one_slip(word, other)), default="")


def is_one_slip(one: str, other: str) -> bool:
    """Whether a letter was left out, typed too much, swapped with the next, or in a long word
    exchanged. The first letter is seldom wrong."""
    if one[0] != other[0] or abs(len(one) - len(other)) > 1 or one == other:
        return False
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if same is None:
        return True  # a letter more at the end
    rest, there = one[same:], other[same:]
    if len(one) != len(other):
        return rest[1:] == there or rest == there[1:]
    if rest[1:] == there[1:]:
        return len(one) >= LONG
    return rest[:2] == there[1::-1] and rest[2:] == there[2:]
