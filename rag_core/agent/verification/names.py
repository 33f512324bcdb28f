"""Names that a sentence must not change: code, options, files, addresses, quoted words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.agent.language.blocks import INLINE_CODE

ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s<>\"'`)\]]+[^\s<>\"'`)\].,;:!?]", re.IGNORECASE)
NAME = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*"  # an option
    r"|(?<![\w./])~?/(?:[\w.-]+/)*[\w.-]*\w|(?<![\w./])(?:[\w-]+/){2,}[\w.-]*\w"  # a path
    r"|\b\w+(?:::\w+)+\b|\b[A-Za-z_]\w*(?:\.\w*[A-Za-z_]\w*)+\b(?:\(\))?"  # dotted, a file
    r"|\b\w*[A-Za-z0-9]_\w+\b|\b_\w+\b"  # snake_case, ENV_NAME
    r"|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b"  # camelCase, CamelCase
    r"|\b[A-Z]{2,}\d{2,}\w*\b|\b\w+\(\)"
)
QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,120})[\"”“»]")
ABBREVIATION = re.compile(r"(?:[A-Za-z]\.){1,3}[A-Za-z]?")
PIECE = re.compile(r"[\w@$%][\w.*@$%/+-]*[\w*/%]|[\w*/@$%]|--?[A-Za-z][\w-]*")
SPACE = re.compile(r"\s+")
QUOTATION_MARKS = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'"})
BETWEEN = ".{0,80}?"
"""What may stand between two pieces of code that belong together."""
EDGES = ".,;:!?"


def code_spans(text: str) -> Iterator[str]:
    for found in INLINE_CODE.finditer(text):
        if inside := found["inside"].strip():
            yield inside


def names_in(prose: str) -> Iterator[str]:
    """Addresses and identifiers that stand in prose without being marked as code."""
    bare = INLINE_CODE.sub(" ", prose)
    for found in ADDRESS.finditer(bare):
        yield found.group()
    for found in NAME.finditer(ADDRESS.sub(" ", bare)):
        if not ABBREVIATION.fullmatch(found.group()):
            yield found.group()


def quoted_in(prose: str) -> Iterator[str]:
    for found in QUOTED.finditer(INLINE_CODE.sub(" ", prose)):
        yield found[1].strip(EDGES + " ")


def even(text: str) -> str:
    """Text with single spaces and plain quotation marks."""
    return SPACE.sub(" ", text.translate(QUOTATION_MARKS)).strip()


def stands_in(name: str, text: str, *, ignore_case: bool = False) -> bool:
    """Whether a name stands in an even text, and is not a part of a longer one."""
    left = r"(?<!\w)" if name[0].isalnum() or name[0] == "_" else r"(?<![\w/-])"
    if not any(map(str.isalnum, name)):
        return True  # a passage may call a sign by its name
    right = r"(?!\w)" if name[-1].isalnum() or name[-1] == "_" else r"(?![\w*])"
    if name[:1].isdigit() and not name.isdigit():
        right = ""  # `0o` begins `0o77`
    pattern = left + re.escape(name) + right
    return re.search(pattern, text, re.IGNORECASE if ignore_case else 0) is not None


def code_stands(code: str, text: str) -> bool:
    """Whether a piece of code stands in an even text: as it is, or piece by piece."""
    whole = even(code)
    if stands_in(whole, text):
        return True
    words = whole.split(" ")
    if len(words) == 1 and not re.search(r"[=:(\[{,;'\"]", whole):
        return False
    pieces = [piece for word in words for piece in (PIECE.findall(word) or [word])]
    return re.search(BETWEEN.join(map(re.escape, pieces)), text) is not None
