"""Whether a reply refuses to answer, in whatever words and language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_core.agent.language.words import content
from rag_core.agent.phrases import Phrases
from rag_core.agent.verification.check import CheckedText
from rag_core.agent.verification.markers import markers_in, normalised

MAX_PARTS = 3
MAX_PART = 120
LEAST_SHARE = 0.7
"""Of the words that a sentence adds to the question, so many stand in one sentence of the
evidence where it was taken from there."""
SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def refuses(reply: str, *, question: str, ranks: frozenset[int], evidence: Iterable[str]) -> bool:
    """Whether a reply tells nothing: it cites nothing, and none of its sentences says anything
    from the evidence that the question did not say."""
    if ranks.intersection(markers_in(normalised(reply))):
        return False
    asked = set(content(question))
    added = [words for one in SENTENCES.split(reply) if (words := set(content(one)) - asked)]
    return not any(
        len(words & told) >= max(1, LEAST_SHARE * len(words))
        for text in evidence
        for told in map(set, map(content, SENTENCES.split(text)))
        for words in added
    )


def with_uncovered(
    text: CheckedText, parts: Sequence[str], phrases: Phrases, *, asked: str
) -> CheckedText:
    """The answer, and the parts of the question that it names as not covered."""
    named = [part for part in parts if part and repeats(part, asked)]
    if not text.text or not named:
        return text
    lines = (phrases.part_not_covered.format(part=part) for part in named[:MAX_PARTS])
    return replace(text, text="\n\n".join((text.text, *lines)))


def repeats(part: str, asked: str) -> bool:
    """Whether the words are the asker's own: nobody checks them against the evidence."""
    words, known = set(content(part)), set(content(asked))
    plain = all(word.strip("?,").isalpha() or word in asked for word in part.split())
    return len(part) <= MAX_PART and plain and len(words & known) >= len(words) / 2
