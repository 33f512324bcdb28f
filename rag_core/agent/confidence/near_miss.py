"""Reads the passages for signs that they are about the subject but do not hold the answer."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rag_core.agent.checks.denial import asks_denied, denies
from rag_core.agent.checks.opposites import has_opposite
from rag_core.agent.confidence.forms import lacks_form
from rag_core.agent.confidence.inquiry import Inquiry
from rag_core.agent.confidence.modifiers import is_of_another_kind
from rag_core.agent.language.reading import read
from rag_core.agent.language.subject import subject_of
from rag_core.agent.language.words import FUNCTION_WORDS, content, stems, words
from rag_core.retrieval.results import SearchResult

OPPOSITE_SAID, NAME_MISSING, RAREST_MISSING, POINTS_NOWHERE = 0.125, 0.7, 0.5, 0.35
OTHER_KIND = 0.55
ASKS_WHETHER = 0.5
"""What each sign leaves of how sure one was. These are judgements, not fits: a passage that says
the opposite leaves an eighth, a name that stands elsewhere more than half."""
MOST_NAMES = 2
LITTLE, NEAR = 0.25, 0.45
"""The share of the question below which a place is about something else: what they have in common
is the name of the whole book. A passage that is nearer than that may say it in other words."""
SAME_MATTER = 0.4
"""The share of the question's words that a sentence must have to be about the same."""
WHETHER = re.compile(
    r"^\W*(?:(?:and|but|so|also|hi|hello|ok|okay),? )*"
    r"(?:is|are|was|were|am|can|could|may|must|should|will|would|do|does|did|has|have|had)n?['’]?t?"
    r" (?!(?:you|we|i) (?:(?:please )?(?:explain|tell|show|give|describe|list|help)))\w",
    re.IGNORECASE,
)
"""A question for yes or no. Documents seldom say either in so many words, and are silent where the
answer is no: so what is quoted may be about the matter and leave it open."""
NAMED = re.compile(r"(?<=\s)[A-Z][\w’'-]+|\b\d[\d,.]*\w*")
POINTED_AT = re.compile(
    r"\b(?:this|these|those|(?:of|for|in|on|about|at|to|with|by|is|was|does|did|do|can) that)\s+"
    r"((?:[\w’'-]+\s?){1,3})",
    re.IGNORECASE,
)
AT_HAND = frozenset(
    content(
        "book course chapter lesson page guide section module document documentation handbook"
        " tutorial way case time example question"
    )
)
"""What `this` may mean without having been named: what one is reading, or the matter itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What speaks against passages that seem to be about the question."""

    says_opposite: bool = False
    names_missing: int = 0
    rarest_missing: float = 0.0
    """How rare the rarest word is that the passage lacks, seen from the question's rarest: 0–1."""
    points_nowhere: bool = False
    asks_whether: bool = False
    other_kind: bool = False
    """Whether another thing of the same name is told of: a library card, not a credit card."""
    little_said: bool = False
    """Whether the best sentence has next to nothing of what is asked but common words."""
    form_missing: bool = False
    """Whether a sum, a telephone number or the like is asked for, and none stands there."""

    @property
    def refutes(self) -> bool:
        """Whether this is reason enough not to answer: hardly any answerable question shows it."""
        return self.says_opposite or self.form_missing or self.little_said

    @property
    def leave(self) -> float:
        """Which share is left of how sure one was that the passages hold the answer."""
        return float(
            OPPOSITE_SAID**self.says_opposite
            * NAME_MISSING ** min(self.names_missing, MOST_NAMES)
            * RAREST_MISSING**self.rarest_missing
            * POINTS_NOWHERE**self.points_nowhere
            * ASKS_WHETHER**self.asks_whether
            * OTHER_KIND**self.other_kind
        )


class Line(NamedTuple):
    """One sentence of a passage."""

    result: SearchResult
    headings: frozenset[str]
    text: str
    words: frozenset[str]


class Reading:
    """The passages of one question, sentence by sentence."""

    def __init__(self, inquiry: Inquiry, results: Sequence[SearchResult]) -> None:
        self._inquiry = inquiry
        self._asked = subject_of(inquiry.forms[-1])
        self._lines = [line for result in results for line in lines_of(result)]

    @property
    def signs(self) -> Signs:
        if not self._lines or not self._asked:
            return Signs()
        return Signs(
            says_opposite=self._says_opposite(),
            names_missing=self._names_missing(),
            rarest_missing=self._rarest_missing(),
            points_nowhere=points_nowhere(self._inquiry),
            asks_whether=WHETHER.match(self._inquiry.text) is not None,
            other_kind=is_of_another_kind(self._inquiry.text, self._near, self._said),
            little_said=self._says_little(),
            form_missing=lacks_form(self._inquiry.text, [line.text for line in self._lines]),
        )

    def _says_little(self) -> bool:
        """Whether neither words nor meaning tie the passages to the question. What leans on its
        thread has little to be found by its words."""
        nearest = max(line.result.similarity_score for line in self._lines)
        return len(self._inquiry.forms) == 1 and self._covered < LITTLE and nearest < NEAR

    @property
    def _covered(self) -> float:
        """Which share of what the question is about stands near its best sentence or above it, by
        the rarity of the words."""
        near = frozenset(content(self._near))
        held = sum(worth for word, worth in self._worth.items() if word in near)
        return held / sum(self._worth.values())

    @cached_property
    def _said(self) -> frozenset[str]:
        """All words of the passages and their headings."""
        return frozenset[str]().union(
            *(line.words for line in self._lines),
            *(line.headings for line in self._lines),
        )

    @cached_property
    def _worth(self) -> dict[str, float]:
        """How rare each word of the question is in these sentences."""
        count = len(self._lines) + 1
        having = {word: sum(word in line.words for line in self._lines) for word in self._asked}
        return {word: math.log(1 + count / (held + 0.5)) for word, held in having.items()}

    @cached_property
    def _best(self) -> int:
        """The sentence that has most of the question, its headings counted in."""
        worths = self._worth.items()
        whole = sum(self._worth.values())

        def held(place: int) -> float:
            line = self._lines[place]
            share = sum(
                worth for word, worth in worths if word in line.words or word in line.headings
            )
            return share / whole + 0.1 * line.result.similarity_score

        return max(range(len(self._lines)), key=held)

    @cached_property
    def _near(self) -> str:
        """The best sentence with its neighbours and headings."""
        best = self._lines[self._best]
        around = self._lines[max(0, self._best - 1) : self._best + 2]
        spoken = (line.text for line in around if line.result is best.result)
        return " ".join((best.result.page_title, best.result.section_heading, *spoken))

    def _names_missing(self) -> int:
        """Names and numbers of the question that do not stand near its best sentence."""
        near = self._near.lower()
        return sum(name not in near for name in names_in(self._inquiry.forms[-1]))

    def _rarest_missing(self) -> float:
        near = set(content(self._near))
        missing = [worth for word, worth in self._worth.items() if word not in near]
        return max(missing, default=0.0) / max(self._worth.values())

    def _says_opposite(self) -> bool:
        """Whether the sentences on the matter turn it round: they affirm what the question asks
        to be denied, or have the opposite of one of its words."""
        asked = frozenset(content(self._inquiry.text))
        if not asked:
            return False
        shares = [len(asked & line.words) / len(asked) for line in self._lines]
        best = max(shares)
        nearest = [
            line.text for line, share in zip(self._lines, shares, strict=True) if share == best
        ]
        if asks_denied(self._inquiry.text) and not any(map(denies, nearest)):
            return True
        return best >= SAME_MATTER and all(
            turned_round(self._inquiry.text, sentence) for sentence in nearest
        )


def names_in(question: str) -> list[str]:
    """The names and numbers of a question, in lower case."""
    named = (name.rstrip(".,").lower() for name in NAMED.findall(question))
    return [name.removesuffix("'s").removesuffix("’s") for name in named]


def stand_in(names: Sequence[str], text: str) -> bool:
    """Whether all of these stand in a text as words of their own."""
    said = frozenset(words(text))
    return all(said.issuperset(words(name)) for name in names)


def read_for(inquiry: Inquiry, results: Sequence[SearchResult]) -> Signs:
    """The signs that these passages are a near miss."""
    return Reading(inquiry, results).signs


def words_in(result: SearchResult) -> frozenset[str]:
    """All words of a passage and its headings, read sentence by sentence."""
    return heading_words(result).union(*(words for _, words in read(result.text)))


def lines_of(result: SearchResult) -> list[Line]:
    headings = heading_words(result)
    return [Line(result, headings, sentence, words) for sentence, words in read(result.text)]


def heading_words(result: SearchResult) -> frozenset[str]:
    return frozenset(content(f"{result.page_title} {result.section_heading}"))


def turned_round(question: str, sentence: str) -> bool:
    """Whether a word of the question stands in the sentence as its opposite only."""
    asked, said = frozenset(stems(question)), frozenset(stems(sentence))
    new = said - asked
    return any(has_opposite(word, new) for word in asked - said)


def points_nowhere(inquiry: Inquiry) -> bool:
    """Whether `this project` or the like is asked about, and nothing of the kind was named."""
    said = frozenset(itertools.chain.from_iterable(map(content, inquiry.said)))
    for found in POINTED_AT.finditer(inquiry.text):
        first = found[1].split()[0].lower()
        meant = frozenset(content(found[1]))
        known = said | AT_HAND | frozenset(content(inquiry.text[: found.start()]))
        if meant and first not in FUNCTION_WORDS and not meant & known:
            return True
    return False
