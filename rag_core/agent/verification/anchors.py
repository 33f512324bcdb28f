"""Finds the words that a model copied, in the passages that it copied them from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rag_core.agent.language.words import content
from rag_core.agent.verification.claims import Claim, Passage
from rag_core.agent.verification.judgements import Words
from rag_core.agent.verification.names import code_spans

WORD = re.compile(r"[^\W_]+")
MARKS = re.compile(r"[*`]+|~~")
ADDRESS = r"\]\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+\)"
BETWEEN = r"[\W_]++"
"""Between two words: white space, Markdown marks, bars of tables and punctuation, in any number."""
PAST_ADDRESSES = rf"(?:{ADDRESS}|[\W_])++"
"""The same, and addresses of links, which a model leaves out."""
ELLIPSIS = re.compile(r"…|\.{3,}")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts that write no space between words: so many letters are more than one word."""
UNSPACED_LETTERS = 3


def quotes_in(words: Sequence[Words], claim: Claim) -> Mapping[int, str]:
    """The longest words that stand in each passage, by rank; where a passage that the claim cites
    has some, those of others do not count."""
    cited = {passage.rank for passage in claim.passages}
    passages = {passage.rank: passage for passage in (*claim.passages, *claim.evidence)}
    found: dict[int, str] = {}
    for each in words:
        for passage in named_first(each.passage, passages.values()):
            quote = find_anchor(each.text, passage.text)
            if is_telling(quote, claim.text):
                found[passage.rank] = max(found.get(passage.rank, ""), quote, key=len)
                break
    return {rank: quote for rank, quote in found.items() if rank in cited} or found


def named_first(rank: int | None, passages: Iterable[Passage]) -> Sequence[Passage]:
    return sorted(passages, key=lambda passage: passage.rank != rank)


def is_telling(words: str, claim: str) -> bool:
    """Whether words can back a claim: several that are not all small ones, or a number or an
    identifier that the claim has, too."""
    spoken = WORD.findall(words)
    if len(spoken) != 1 or len(UNSPACED.findall(words)) >= UNSPACED_LETTERS:
        return bool(content(words))
    (word,) = spoken
    names_something = not word.isalpha() or any(map(str.isupper, word[1:]))
    shared = claim if names_something else " ".join(code_spans(claim))
    return word in WORD.findall(shared)


def find_anchor(words: str, passage: str) -> str:
    """The words as the passage has them, white space and Markdown marks aside; the longest part
    where some are left out of the middle; empty where the passage does not have them."""
    if found := find_words(words, passage):
        return found
    parts = filter(WORD.search, ELLIPSIS.split(words))
    quotes = [find_words(part, passage) for part in parts]
    return max(quotes, key=len) if quotes and all(quotes) else ""


def find_words(words: str, passage: str) -> str:
    spoken = WORD.findall(words)
    if not spoken:
        return ""
    left = r"(?<![^\W_])" if spoken[0][0].isascii() else ""
    right = r"(?![^\W_])" if spoken[-1][-1].isascii() else ""
    for between in (BETWEEN, PAST_ADDRESSES):
        pattern = between.join(map(re.escape, spoken))
        if found := re.search(f"{left}{pattern}{right}", passage, re.IGNORECASE):
            return " ".join(MARKS.sub("", found.group()).split())
    return ""
