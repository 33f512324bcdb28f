"""Whether a sentence says what its evidence says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from rag_core.agent.checks.guard import visible
from rag_core.agent.checks.instructions import for_readers
from rag_core.agent.checks.near_copy import changed_in_place
from rag_core.agent.checks.numbers import WORDS as NUMBER_WORDS
from rag_core.agent.checks.numbers import numbers_in
from rag_core.agent.checks.polarity import polarity_stands
from rag_core.agent.checks.quantities import quantities_stand
from rag_core.agent.language.blocks import INLINE_CODE
from rag_core.agent.language.languages import language_of
from rag_core.agent.language.reading import read
from rag_core.agent.language.words import FUNCTION_WORDS, content, words
from rag_core.agent.phrases import named_open
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.results import SearchResult

NEW_WORDS = 0.5
"""The share of a sentence's words, beyond those of the question, that the evidence must have."""
ALL_WORDS = 0.6
"""The same for a sentence that only uses words of the question."""
CODE_WORDS = 0.6
CONNECTING = frozenset(
    content(
        "follow following follows step steps here example examples short summary answer answers"
        " note first second next finally also see below above detail details use documents passages"
        " according"
    )
)
LIGHT = frozenset(
    content(
        "make makes making take takes need needs want wants provide provides offer offers use uses"
        " used using allow allows allowed able possible way ways thing things include includes"
        " including called call means mean"
    )
) | frozenset(content(" ".join(NUMBER_WORDS)))
"""Words that any sentence may be turned with; numbers are compared as numbers."""
NAME = re.compile(r"(?<=[\w,;)] )(?!I\b)[A-Z][\w’'-]+|\b[A-Z]{2,}\w*\b|\b[a-z]+[A-Z]\w*\b")
OPENING_NAME = re.compile(
    r"^\W*(?P<name>[A-Z][a-zà-ÿ]+)(?:'s\b)? (?:is|was|has|had|can|cannot|could|may|might|must|does"
    r"|did|will|would|should|\d[\d.]*)\b"
)
IDENTIFIER = re.compile(r"(?<!\w)(?:--?\w[\w-]+|\w+(?:[._/]\w+)+|\w+\(\))(?!\w)")
QUOTE_LENGTH = 300
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
        """The sentence of the passage that shares most with this one."""
        wanted = set(content(sentence))
        nearest, _ = max(
            read(self.text) or ((self.text, frozenset()),), key=lambda one: shared(wanted, one[1])
        )
        return nearest


class Evidence:
    """All passages of one answer, and the question that they were found for."""

    def __init__(self, context: RetrievalContext, *, question: str) -> None:
        self.passages = {result.rank: Passage(result.rank, result) for result in context.results}
        self._question = question
        self._asked = frozenset(content(question))
        self._preferred: Sequence[int] = ()

    def preferring(self, numbers: Sequence[int]) -> Evidence:
        """The same evidence, in which these passages are looked at first."""
        if not numbers:
            return self
        other = copy(self)
        other._preferred = numbers
        return other

    def is_open(self, sentence: str) -> bool:
        """Whether a sentence only says that a part of the question has no answer."""
        part = named_open(sentence.strip())
        return bool(part) and part in self._question

    def supports(self, sentence: str, numbers: Iterable[int]) -> bool:
        """Whether these passages together say what the sentence says."""
        cited = [self.passages[number] for number in numbers if number in self.passages]
        if not cited:
            return False
        if any(quotes(passage, sentence) for passage in cited):
            return True
        if not facts_stand(sentence, cited):
            return False
        if is_foreign(sentence, cited):
            return True
        said = [one for passage in cited for one in passage.sentences]
        return (
            self._subject_stands(sentence, cited)
            and self._words_stand(sentence, cited)
            and polarity_stands(sentence, said)
            and not changed_in_place(sentence, said)
        )

    def best_for(self, sentence: str) -> int | None:
        """The passage that supports a sentence best, if one does."""
        wanted = set(content(sentence))
        for passage in sorted(
            self.passages.values(),
            key=lambda p: (p.number not in self._preferred, -len(wanted & p.words), p.number),
        ):
            if self.supports(sentence, [passage.number]):
                return passage.number
        return None

    def supports_code(self, code: str) -> int | None:
        """The passage that most of this code's words come from, if there is one."""
        wanted = {word for word in words(code) if not word.isdigit()}
        if not wanted:
            return None
        best = max(
            self.passages.values(),
            key=lambda p: share_in(wanted, set(words(p.whole))),
            default=None,
        )
        if best is None or share_in(wanted, set(words(best.whole))) < CODE_WORDS:
            return None
        return best.number

    def _subject_stands(self, sentence: str, cited: Sequence[Passage]) -> bool:
        """Whether what a sentence opens with is known, where that can only be a name."""
        opening = set(content(opening_name(sentence)))
        return opening <= self._asked.union(*(passage.words for passage in cited))

    def _words_stand(self, sentence: str, cited: Sequence[Passage]) -> bool:
        said = set(content(sentence)) - LIGHT or set(content(sentence))
        held = frozenset[str]().union(*(passage.words for passage in cited))
        new = said - self._asked
        if not new:
            return share_in(said, held) >= ALL_WORDS
        return share_in(new, held) >= NEW_WORDS and bool(said & held)

    def quote(self, number: int, sentence: str) -> str:
        """The words of a passage that back a sentence."""
        nearest = self.passages[number].nearest(sentence)
        return nearest if len(nearest) <= QUOTE_LENGTH else nearest[: QUOTE_LENGTH - 1] + "…"


def quotes(passage: Passage, sentence: str) -> bool:
    """Whether a sentence stands in the passage word for word."""
    said = bare(sentence)
    return len(said) >= SHORTEST_QUOTE and f" {said} " in f" {passage.bare} "


def bare(text: str) -> str:
    """The words of a text, signs and marks left out, in one line."""
    return " ".join(words(LIST_MARK.sub("", text)))


def facts_stand(sentence: str, cited: Sequence[Passage]) -> bool:
    """Whether every number, name and identifier of the sentence stands in the evidence."""
    numbers = frozenset[str]().union(*(passage.numbers for passage in cited))
    if not numbers_in(sentence) <= numbers:
        return False
    whole = "\n".join(passage.whole for passage in cited)
    if not quantities_stand(sentence, whole):
        return False
    return all(stands_in(name, whole) for name in names_in(sentence, cited))


def opening_name(sentence: str) -> str:
    """The first word where it can only be a name: it is written large and something is said of it
    at once, without an article."""
    found = OPENING_NAME.match(sentence)
    if found is None or found["name"].lower() in FUNCTION_WORDS:
        return ""
    return found["name"]


def stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word of its own, large or small."""
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def names_in(sentence: str, cited: Sequence[Passage]) -> set[str]:
    """Names and identifiers; in a language that writes nouns large, only identifiers."""
    code = {found["inside"].strip() for found in INLINE_CODE.finditer(sentence)}
    prose = INLINE_CODE.sub(" ", sentence)
    found = {name.removesuffix("'s").removesuffix("’s") for name in IDENTIFIER.findall(prose)}
    if not is_foreign(sentence, cited):
        found |= {name.removesuffix("'s").removesuffix("’s") for name in NAME.findall(prose)}
    return {name for name in code | found if name}


def is_foreign(sentence: str, cited: Sequence[Passage]) -> bool:
    """Whether a sentence is in another language than its evidence, so that words do not match."""
    own = language_of(sentence)
    return own is not None and cited[0].language not in {own, None}


def is_connecting(sentence: str) -> bool:
    """Whether a sentence only leads from one to the next and claims nothing."""
    return set(content(sentence)) <= CONNECTING and not numbers_in(sentence)


def share_in(wanted: set[str], held: frozenset[str] | set[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 0.0


def shared(one: set[str], other: frozenset[str]) -> float:
    """How much two sets have in common, seen from the smaller one."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0
