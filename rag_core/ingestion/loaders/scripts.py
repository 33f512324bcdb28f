"""Words set above or below the line: powers, ordinals and formulas, else the numbers of notes."""

from __future__ import annotations

import re

WORD_BEFORE = re.compile(r"[^\s|(\[{,;:=<>+*/^-]*\Z")
LINK = re.compile(r"\[(.*)\]\([^()]*\)")
POWER_BASE = re.compile(r"[^\W\d_]|\d{1,3}(?:[.,]\d+)?|[cdkmnµμ]m|\w\)")
POWER = re.compile(r"[-+−–]?\w{1,3}(?:[-+−–/]\w{1,3})?")
ION = re.compile(r"\d*[-+−–]")
ORDINAL = re.compile(r"st|nd|rd|th|er|ère|e|ème")
SIGNS = {"®", "™", "℠", "°"}
FORMULA_BASE = re.compile(r"(?:[A-Z][a-z]?\d{0,2}){1,4}|[^\W\d_A-Z]{1,3}|.*\)")
FORMULA = re.compile(r"[\w+−–,=-]{1,6}")
LONGEST_NOTE = 12
"""Characters; what is longer is text in small print."""


def superscript(before: str, words: str, after: str) -> str:
    """What stands above the line, as it reads within it: `^2` for a power, ` (2)` for a note."""
    words = bare(words)
    base = word_before(before)
    is_sign = words in SIGNS or (base[-1:].isdigit() and ORDINAL.fullmatch(words))
    if not words or (base and is_sign):
        return words
    if base and ((POWER_BASE.fullmatch(base) and POWER.fullmatch(words)) or ION.fullmatch(words)):
        return f"^{words}"
    return note(before, words, after)


def subscript(before: str, words: str, after: str) -> str:
    """What stands below the line: part of a formula, or set off like a note."""
    words = bare(words)
    if not words or (FORMULA_BASE.fullmatch(word_before(before)) and FORMULA.fullmatch(words)):
        return words
    return note(before, words, after)


def word_before(before: str) -> str:
    found = WORD_BEFORE.search(before[-40:])
    return found[0] if found else ""


def bare(words: str) -> str:
    """The words without the brackets and the link of a note's number."""
    plain = " ".join(words.split())
    linked = LINK.fullmatch(plain)
    return (linked[1] if linked else plain).strip("[]()\\ ")


def note(before: str, words: str, after: str) -> str:
    """A note's number in brackets, parted from the words around it."""
    is_text = " " in words or len(words) > LONGEST_NOTE
    gap = " " if before[-1:].strip() and before[-1] not in "([|>" else ""
    following = " " if after[:1].isalnum() or after[:1] in {"*", "_", "`", "["} else ""
    return f"{gap}{words if is_text else f'({words})'}{following}"
