"""Codes in a question: K44, E-17, HTTP_503, np.float32, 2.3.1. Nobody says these in other words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.retrieval.coverage import JUDGES, rarity

WORD = re.compile(r"(?<![a-z0-9])(?:--)?[a-z0-9]+(?:[-_./:][a-z0-9]+)*")
COUNTED = re.compile(r"\d+(?:st|nd|rd|th|s)")
"""3rd, 1990s: numbers that are written with letters."""
NUMBERED = re.compile(r"\d\.\d+\.\d|\d-\d")
DOTTED = re.compile(r"[a-z]{2,}(?:\.[a-z]{2,})+")
ERROR_NUMBER = re.compile(
    r"\b(?:errors?|status|exit|return|http|codes?)(?: (?:code|number|status))?"
    r" (\d{3,5})(?![\w.:%-])"
)
"""A plain number that is one of these is a name as well: `error 409`."""
SPACED = re.compile(r"(?<![\w-])([A-Z]{2,6}) (?!(?:19|20)\d\d\b)(\d{2,5})(?![\w.:%-])")
"""A name in two words, if the other words of the text are not large as well: `TP 507`."""
PART = re.compile(r"[a-z]+|\d+|[^a-z\d]+")
ANY_MARK = r"[-_./: ]?"
"""How a code is joined differs from writer to writer: E-17, E 17, E17."""
MOST = 8
"""Codes of one text that are looked for: a pasted log has hundreds."""


def codes_in(text: str) -> list[str]:
    """The codes of a text in lower case, each once."""
    lowered = text.lower()
    codes = (*filter(is_code, WORD.findall(lowered)), *spoken_codes(text))
    return list(dict.fromkeys(codes))[:MOST]


def spoken_codes(text: str) -> list[str]:
    """Codes that are written as a word and a number."""
    spaced = [] if text.isupper() else [f"{name}-{n}".lower() for name, n in SPACED.findall(text)]
    return [*ERROR_NUMBER.findall(text.lower()), *spaced]


def is_code(word: str) -> bool:
    """Whether a word is a name made of letters and figures or marks, and no plain number."""
    has_figure = any(letter.isdigit() for letter in word)
    if has_figure and any(letter.isalpha() for letter in word):
        return not COUNTED.fullmatch(word)
    if has_figure:
        return bool(NUMBERED.search(word))
    return "_" in word or word.startswith("--") or bool(DOTTED.fullmatch(word))


def code_shares(codes: Sequence[str], passages: Sequence[str]) -> NDArray[np.float64]:
    """For each passage the share of a question's codes it has, by their rarity: 0 to 1."""
    if not codes or not passages:
        return np.zeros(len(passages))
    patterns = [pattern_of(code) for code in codes]
    texts = [passage.lower() for passage in passages]
    held = np.array([[bool(each.search(text)) for each in patterns] for text in texts])
    alone = np.eye(min(JUDGES, len(texts)), 1, dtype=np.bool_)
    shares: NDArray[np.float64] = held @ (rarity(held[:JUDGES]) / rarity(alone)) / len(codes)
    return shares


def pattern_of(code: str) -> re.Pattern[str]:
    """A code as a whole word, in whichever way its parts are joined; between two numbers the mark
    means something."""
    parts: list[str] = PART.findall(code.lstrip("-"))
    written = ""
    for number, part in enumerate(parts):
        before, after = parts[number - 1 : number], parts[number + 1 : number + 2]
        if not part[0].isalnum():
            between_numbers = all(each[0].isdigit() for each in (*before, *after))
            written += re.escape(part) if between_numbers else ANY_MARK
        elif before and before[0][0].isalnum():
            written += f"[-_]?{part}"
        else:
            written += part
    return re.compile(rf"(?<![a-z0-9]){written}(?![a-z0-9])")
