"""Numbers of a text in one form, however they are written."""

from __future__ import annotations

import re
from functools import lru_cache

WORDS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
    "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17",
    "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40",
    "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    "hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000",
    "dozen": "12",
    "zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7", "acht": "8",
    "neun": "9", "zehn": "10", "zwölf": "12", "zwanzig": "20", "hundert": "100", "tausend": "1000",
    "tres": "3", "cuatro": "4", "cinco": "5", "seis": "6", "siete": "7", "ocho": "8", "nueve": "9",
    "diez": "10", "veinte": "20", "cien": "100",
    "deux": "2", "trois": "3", "quatre": "4", "cinq": "5", "huit": "8", "neuf": "9", "vingt": "20",
}  # fmt: skip
DIGITS = re.compile(r"(?<![\w.])[-−]?\d+(?:[,'’\u202f\u00a0]\d{3}(?!\d))*(?:\.\d+)*|\d+(?:\.\d+)*")
NUMBER_WORD = re.compile(r"\b(?:" + "|".join(WORDS) + r")\b", re.IGNORECASE)
VAGUE = frozenset({"0", "1"})
"""`One` and `zero` in words are seldom counts; in digits they are."""
LIST_NUMBER = re.compile(r"^\s*\d{1,3}[.)]\s+")


@lru_cache(maxsize=4_096)
def numbers_in(text: str) -> frozenset[str]:
    """All numbers, digits without separators; a list item's own number does not count."""
    text = LIST_NUMBER.sub("", text)
    digits = {plain(found) for found in DIGITS.findall(text)}
    spelt = {WORDS[found.lower()] for found in NUMBER_WORD.findall(text)} - VAGUE
    return frozenset(digits | spelt)


def plain(number: str) -> str:
    bare = re.sub(r"[,'’\u202f\u00a0]", "", number).lstrip("-−")
    whole, dot, part = bare.partition(".")
    if dot and "." not in part:
        part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")
