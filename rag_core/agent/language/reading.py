"""A passage as it is read: its sentences, each with the words that carry its meaning."""

from __future__ import annotations

from functools import lru_cache

from rag_core.agent.language.sentences import sentences_of
from rag_core.agent.language.words import meant

READ_TEXTS = 1_024
"""Passages that are remembered as they were read, a few kilobytes each: what is judged before an
answer is written is looked at again when the answer is checked, with many others in between."""


@lru_cache(maxsize=READ_TEXTS)
def read(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The sentences of a text with their words: what is asked for often is read once."""
    return tuple(
        (sentence, frozenset(meant(sentence)))
        for line in text.splitlines()
        for sentence in map(str.strip, sentences_of(line))
        if sentence
    )
