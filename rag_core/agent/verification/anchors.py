"""Finds words that a model copied, in the passage that it copied them from."""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")
MARKS = re.compile(r"[*`]+|~~")
BETWEEN = r"[\W_]{1,12}"
"""Between two words: white space, Markdown marks and punctuation, however they are written."""


def find_anchor(words: str, passage: str) -> str:
    """The words as the passage has them, white space and Markdown marks aside; empty where it does
    not have them."""
    spoken = WORD.findall(words.replace("_", " "))
    if not spoken:
        return ""
    pattern = BETWEEN.join(map(re.escape, spoken))
    left = r"(?<![^\W_])" if spoken[0][0].isascii() else ""
    right = r"(?![^\W_])" if spoken[-1][-1].isascii() else ""
    found = re.search(f"{left}{pattern}{right}", passage, re.IGNORECASE)
    return " ".join(MARKS.sub("", found.group()).split()) if found else ""
