"""Whether the passages tell of another thing of that name: a library card, not a credit card."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator

from rag_core.agent.language.subject import ASKING
from rag_core.agent.language.words import says_something, stem_of, words

BREAK = re.compile(r"[^\w\s'’-]+")


def is_of_another_kind(question: str, near: str, said: Collection[str]) -> bool:
    """Whether a word of the question that no passage has stands before one that the best sentence
    has, and there another word stands in its place.

    `near`: the best sentence and what is around it; `said`: the words of all passages."""
    kinds = list(pairs(near))
    return any(
        modifier not in said and any(head == other for _, other in kinds)
        for modifier, head in pairs(question)
        if modifier not in ASKING and head not in ASKING
    )


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """Words that carry meaning, each with the one right behind it."""
    for part in BREAK.split(text):
        for one, other in itertools.pairwise(words(part)):
            if says_something(one) and says_something(other):
                yield stem_of(one), stem_of(other)
