"""One passage of the evidence, read for what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from rag_core.agent.checks.instructions import for_readers
from rag_core.agent.checks.numbers import numbers_in
from rag_core.agent.language.languages import language_of
from rag_core.agent.language.reading import read
from rag_core.agent.language.words import content, words
from rag_core.retrieval.results import SearchResult
from rag_core.text.visible import visible

SHORTEST_QUOTE = 12
"""Characters; fewer are found in any passage."""
LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+", re.MULTILINE)


@dataclass(frozen=True)
class Passage:
    """One numbered passage, read for what it says."""

    number: int
    result: SearchResult

    @cached_property
    def text(self) -> str:
        return for_readers(visible(self.result.text))

    @cached_property
    def whole(self) -> str:
        """The passage with the headings that it stands under."""
        return self.headings + self.text

    @cached_property
    def headings(self) -> str:
        return visible(f"{self.result.page_title}\n{self.result.section_heading}\n")

    @cached_property
    def language(self) -> str | None:
        return language_of(self.text)

    @cached_property
    def bare(self) -> str:
        return bare(self.whole)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(content(self.headings)).union(*(words for _, words in read(self.text)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return numbers_in(self.whole)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence for sentence, _ in read(self.text))

    def nearest(self, sentence: str) -> str:
        """The sentence of the passage that shares most with this one; a heading says nothing."""
        wanted = set(content(sentence))
        said = [one for one in read(self.text) if not one[0].lstrip().startswith("#")]
        nearest, _ = max(
            said or ((self.text, frozenset()),), key=lambda one: shared(wanted, one[1])
        )
        return nearest


def quotes(passage: Passage, sentence: str) -> bool:
    """Whether a sentence stands in the passage word for word."""
    said = bare(sentence)
    return len(said) >= SHORTEST_QUOTE and f" {said} " in f" {passage.bare} "


def has_part_of(sentence: str, passage: Passage) -> bool:
    """Whether a sentence shares a number or a word with a passage, in whatever language it is."""
    shares_number = bool(numbers_in(sentence) & passage.numbers)
    return shares_number or bool(set(content(sentence)) & passage.words)


def bare(text: str) -> str:
    """The words of a text, signs and marks left out, in one line."""
    return " ".join(words(LIST_MARK.sub("", text)))


def shared(one: set[str], other: frozenset[str]) -> float:
    """How much two sets have in common, seen from the smaller one."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0
