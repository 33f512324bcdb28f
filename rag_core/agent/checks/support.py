"""Whether a sentence says what its evidence says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy

from rag_core.agent.checks.manners import without_lead_in
from rag_core.agent.checks.near_copy import changed_in_place
from rag_core.agent.checks.numbers import WORDS as NUMBER_WORDS
from rag_core.agent.checks.numbers import numbers_in
from rag_core.agent.checks.passage import LIST_MARK, Passage, has_part_of, quotes
from rag_core.agent.checks.polarity import polarity_stands
from rag_core.agent.checks.quantities import quantities_stand
from rag_core.agent.language.blocks import INLINE_CODE
from rag_core.agent.language.languages import language_of
from rag_core.agent.language.words import FUNCTION_WORDS, content, words
from rag_core.agent.phrases import named_open
from rag_core.retrieval.context import RetrievalContext

NEW_WORDS = 0.4
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
        " including called call means mean give gives given go goes get gets keep keeps let lets"
        " try please simply also additionally furthermore moreover meanwhile whereas while however"
        " overall short summary particular specifically typically generally usually respectively"
        " instead according accordingly document documents documentation passage table text states"
        " stated says described mentioned listed available feature option ones someone else reason"
        " happens happen become becomes anything everything so now open start begin show shows"
        " shown"
    )
) | frozenset(content(" ".join(NUMBER_WORDS)))
"""Words that any sentence may be turned with; numbers are compared as numbers."""
NAME = re.compile(r"(?<=[\w,;)] )(?!I\b)[A-Z][\w’'-]+|\b[A-Z]{2,}\w*\b|\b[a-z]+[A-Z]\w*\b")
OPENING_NAME = re.compile(
    r"^\W*(?P<name>[A-Z][a-zà-ÿ]+)(?:'s\b)? (?:is|was|has|had|can|cannot|could|may|might|must|does"
    r"|did|will|would|should|\d[\d.]*)\b"
)
PLURAL = re.compile(r"[^\Wsiu]s$")
"""`Visitors may …` names nobody: it is a word in the plural."""
IDENTIFIER = re.compile(r"(?<!\w)(?:--?\w[\w-]+|\w+(?:[._/]\w+)+|\w+\(\))(?!\w)")
QUOTE_LENGTH = 300


class Evidence:
    """All passages of one answer, and the question that they were found for."""

    def __init__(self, context: RetrievalContext, *, question: str) -> None:
        self.passages = {result.rank: Passage(result.rank, result) for result in context.results}
        self._question = question
        self._asked = frozenset(content(question))
        self._preferred: Sequence[int] = ()
        self._language: str | None = None

    def preferring(self, numbers: Sequence[int]) -> Evidence:
        """The same evidence, in which these passages are looked at first."""
        if not numbers:
            return self
        other = copy(self)
        other._preferred = numbers
        return other

    def told_in(self, draft: str) -> Evidence:
        """The same evidence for a text whose short sentences may not tell their language."""
        other = copy(self)
        prose = INLINE_CODE.sub(" ", draft)
        other._language = language_of(prose)
        return other

    def is_foreign(self, sentence: str, numbers: Sequence[int]) -> bool:
        """Whether a sentence is in another language than the passages that it cites."""
        cited = [self.passages[number] for number in numbers if number in self.passages]
        return bool(cited) and self._is_foreign(sentence, cited)

    def _is_foreign(self, sentence: str, cited: Sequence[Passage]) -> bool:
        """Whether words cannot tell what a sentence says: its evidence is in another language.

        One that is not in the language of the whole text, or too short to tell its own, must have
        a number or a word of its evidence."""
        own = language_of(sentence)
        if own is None or own != self._language:
            is_tied = any(has_part_of(sentence, passage) for passage in cited)
            own = (own or self._language) if is_tied else None
        return own is not None and cited[0].language not in {own, None}

    def is_open(self, sentence: str) -> bool:
        """Whether a sentence only says that a part of the question has no answer."""
        part = named_open(sentence.strip())
        return bool(part) and part in self._question

    def supports(self, sentence: str, numbers: Iterable[int]) -> bool:
        """Whether these passages together say what the sentence says."""
        cited = [self.passages[number] for number in numbers if number in self.passages]
        if not cited:
            return False
        sentence = without_lead_in(LIST_MARK.sub("", sentence))
        if any(quotes(passage, sentence) for passage in cited):
            return True
        is_foreign = self._is_foreign(sentence, cited)
        if not facts_stand(sentence, cited, is_foreign=is_foreign):
            return False
        if is_foreign:
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


def facts_stand(sentence: str, cited: Sequence[Passage], *, is_foreign: bool) -> bool:
    """Whether every number, name and identifier of the sentence stands in the evidence."""
    numbers = frozenset[str]().union(*(passage.numbers for passage in cited))
    if not numbers_in(sentence) <= numbers:
        return False
    whole = "\n".join(passage.whole for passage in cited)
    if not quantities_stand(sentence, whole):
        return False
    return all(stands_in(name, whole) for name in names_in(sentence, is_foreign=is_foreign))


def opening_name(sentence: str) -> str:
    """The first word where it can only be a name: it is written large and something is said of it
    at once, without an article."""
    found = OPENING_NAME.match(sentence)
    if found is None or found["name"].lower() in FUNCTION_WORDS:
        return ""
    if PLURAL.search(found["name"]):
        return ""
    return found["name"]


def stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word of its own, large or small."""
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def names_in(sentence: str, *, is_foreign: bool) -> set[str]:
    """Names and identifiers; in a language that writes nouns large, only identifiers."""
    code = {found["inside"].strip() for found in INLINE_CODE.finditer(sentence)}
    prose = INLINE_CODE.sub(" ", sentence)
    found = {name.removesuffix("'s").removesuffix("’s") for name in IDENTIFIER.findall(prose)}
    if not is_foreign:
        found |= {name.removesuffix("'s").removesuffix("’s") for name in NAME.findall(prose)}
    return {name for name in code | found if name}


def is_connecting(sentence: str) -> bool:
    """Whether a sentence only leads from one to the next and claims nothing."""
    return set(content(sentence)) <= CONNECTING and not numbers_in(sentence)


def share_in(wanted: set[str], held: frozenset[str] | set[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 0.0
