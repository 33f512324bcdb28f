"""Where a text may be cut without breaking a character that a reader sees as one."""

from __future__ import annotations

import re
import unicodedata

ZERO_WIDTH_JOINER = "\u200d"
VIRAMA_CLASS = 9
MARKS = frozenset({"Mn", "Me", "Mc"})
EXTENDING = re.compile(
    "[\u200c\u200d\u1160-\u11ff\ud7b0-\ud7fb\udc00-\udfff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
"""Joiners, Hangul vowels and finals, low surrogates, skin tones and tags: never first in a part."""
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
LONGEST_ENTITY = 34


def safe_cut(text: str, start: int, at: int) -> int:
    """The last place after `start` and up to `at` that breaks nothing, or `at` if there is none."""
    position = at
    while position > start and not is_boundary(text, start, position):
        position -= 1
    position = _before_entity(text, start, position)
    return position if position > start else at


def is_boundary(text: str, start: int, position: int) -> bool:
    """Whether no visible character, and no backslash with what it escapes, spans this place.

    `start` is a place that is known to be one, so nothing before it needs to be read."""
    if not start < position < len(text):
        return True
    before, after = text[position - 1], text[position]
    if before in (ZERO_WIDTH_JOINER, "\\") or (before == "\r" and after == "\n"):
        return False
    if EXTENDING.match(after) or unicodedata.category(after) in MARKS:
        return False
    if unicodedata.combining(before) == VIRAMA_CLASS and after.isalpha():
        return False
    return not (_is_flag_letter(after) and _flag_letters(text, start, position) % 2)


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters(text: str, start: int, position: int) -> int:
    """Flags are pairs of letters, so what counts is how many stand before this place."""
    first = position
    while first > start and _is_flag_letter(text[first - 1]):
        first -= 1
    return position - first


def _before_entity(text: str, start: int, position: int) -> int:
    ampersand = text.rfind("&", max(start, position - LONGEST_ENTITY), position)
    if ampersand < 0:
        return position
    entity = ENTITY.match(text, ampersand)
    return ampersand if entity and entity.end() > position else position
