"""English words cut to their stems, after Porter's algorithm of 1980."""

from __future__ import annotations

import re
from functools import lru_cache

VOWEL = "(?:[aeiou]|(?<=[^aeiou])y)"
SYLLABLE = re.compile("(?:[aeiou]|(?<=[^aeiou])y)+[^aeiouy]|(?:[aeiou]|(?<=[^aeiou])y)+(?=y)")
HAS_VOWEL = re.compile(VOWEL)
DOUBLED = re.compile(r"([^aeiouylsz])\1$")
SHORT_END = re.compile(r"[^aeiou](?:[aeiou]|(?<=[^aeiou])y)[^aeiouwxy]$")

STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous",
    "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive",
    "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "sion", "tion",
    "ism", "ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip


SHORTEST = 3
"""Letters: a shorter word is its own stem, and one of so many only loses a last e."""

IRREGULAR = {
    "goes": "go", "went": "go", "gone": "go",
    "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "annual",
    "wrote": "write", "written": "write", "ran": "run", "began": "begin", "begun": "begin",
    "kept": "keep", "sent": "send", "built": "build", "made": "make", "given": "give",
    "gave": "give", "taken": "take", "took": "take", "found": "find", "held": "hold",
    "chosen": "choose", "chose": "choose", "shown": "show", "grew": "grow", "grown": "grow",
    "led": "lead", "left": "leave", "lost": "lose", "meant": "mean", "paid": "pay", "won": "win",
    "said": "say", "sold": "sell", "spent": "spend", "thought": "think", "told": "tell",
    "understood": "understand", "known": "know", "knew": "know", "became": "become",
    "children": "child", "people": "person", "indices": "index", "matrices": "matrix",
}  # fmt: skip
"""Words whose forms no rule of endings brings together."""


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """The stem of a lower-case word; words with other characters than letters stay as they are."""
    word = IRREGULAR.get(word, word)
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    if len(word) > SHORTEST:
        word = without_past(without_plural(word))
    if word.endswith("y") and word[-2] not in "aeiou" and HAS_VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    word = replaced(word, STEP_2)
    word = replaced(word, STEP_3)
    return tidied(without_ending(word))


def measure(part: str) -> int:
    """How many times vowels are followed by consonants."""
    return len(SYLLABLE.findall(part))


def without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4 and not HAS_VOWEL.search(word[:-3]):
        return word[:-3] + "y"
    if word.endswith("sses") or (word.endswith("ies") and len(word) > 4):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def without_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and HAS_VOWEL.search(root):
            return restored(root)
    return word


def restored(root: str) -> str:
    if root.endswith("i") and not HAS_VOWEL.search(root[:-1]):
        return root + "e" if len(root) < SHORTEST else root[:-1] + "y"  # died, tried
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if DOUBLED.search(root) and len(root) > SHORTEST:
        return root[:-1]
    if measure(root) == 1 and SHORT_END.search(root):
        return root + "e"
    return root


def replaced(word: str, endings: dict[str, str]) -> str:
    for ending, shorter in endings.items():
        root = word.removesuffix(ending)
        if root != word:
            return root + shorter if measure(root) else word
    return word


def without_ending(word: str) -> str:
    for ending in STEP_4:
        root = word.removesuffix(ending)
        if root != word:
            if ending in {"sion", "tion"}:
                root += ending[0]
            return root if measure(root) > 1 else word
    return word


def tidied(word: str) -> str:
    if word.endswith("e"):
        root = word[:-1]
        if measure(root) > 1 or (measure(root) == 1 and not SHORT_END.search(root)):
            word = root
    if word.endswith("ll") and measure(word) > 1:
        word = word[:-1]
    return word
