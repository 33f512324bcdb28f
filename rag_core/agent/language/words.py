"""Words of a text, as they are compared: lower case, cut to stems, small words told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import combining, normalize

from rag_core.agent.language.stems import stem

WORD = re.compile(r"[^\W_]++(?:[.'’+#-][^\W_]++)*+(?:\+\+|#)?")
"""A run of letters and digits; inner dots, dashes and apostrophes hold it together."""
PLAIN_WORD = re.compile(r"[a-z0-9]++(?:[.'+#-][a-z0-9]++)*+(?:\+\+|#)?")
"""The same in a text of plain small letters, where it is found in half the time."""

SMALL = """
    a about above after again against all also am an and any are aren't as at be because been
    before being below between both but by can can't cannot could couldn't did didn't do does
    doesn't doing don't down during each either else etc ever every few for from further get gets
    got had has have haven't having he her here hers him his how however i i'm i've if in instead
    into is isn't it it's its itself just let let's like many may me might mine more most much must
    my no nor not now of off often on once one only onto or other our ours out over own per please
    rather same shall she should so some such than that that's the their them then there these they
    this those though through thus to too toward under until up upon us very via was wasn't we were
    weren't what when where whether which while who whom whose why will with within without won't
    would wouldn't yet you you're your yours
    hadn't hasn't mustn't needn't shouldn't here's he's how's i'll she's there's they're they've
    they'll we're we've we'll what's when's where's who's why's you'll you've"""
WORDS_THEMSELVES = frozenset(["ill", "shell", "well", "hell", "hes", "shes", "lets"])
"""What is another word, or may be one, without its apostrophe."""
UNMARKED = frozenset(word.replace("'", "") for word in SMALL.split() if "'" in word)
"""`whats`, `dont`: as they are typed in a hurry."""
FUNCTION_WORDS = frozenset(SMALL.split()) | (UNMARKED - WORDS_THEMSELVES)
"""Words that say how a sentence hangs together, not what it is about."""


def listed(text: str) -> list[str]:
    """The words of a text in lower case, in order."""
    lower = text.lower().replace("’", "'")
    return (PLAIN_WORD if lower.isascii() else WORD).findall(lower)


@lru_cache(maxsize=2_048)
def words(text: str) -> tuple[str, ...]:
    """The same, for what is asked about again."""
    return tuple(listed(text))


@lru_cache(maxsize=2_048)
def stems(text: str) -> tuple[str, ...]:
    """The stems of all words, in order."""
    return tuple(map(stem_of, words(text)))


def stem_of(word: str) -> str:
    """The stem of a word in plain letters: who asks seldom types the dots and accents, and
    Wi-Fi and wifi are one word."""
    bare = word.removesuffix("'s")
    if "-" in bare and (joined := bare.replace("-", "")).isalpha():
        bare = joined
    if not bare.isascii():
        parts = normalize("NFKD", bare)
        bare = "".join(letter for letter in parts if not combining(letter)) or bare
    return stem(bare)


def meant(text: str) -> Iterator[str]:
    """The stems of the words that carry meaning, in order; small words are left out."""
    return filter(None, map(told, listed(text)))


@lru_cache(maxsize=2_048)
def content(text: str) -> tuple[str, ...]:
    """The same, for what is asked about again."""
    return tuple(meant(text))


@lru_cache(maxsize=8_192)
def told(word: str) -> str:
    """The stem of a word that carries meaning; empty for a small one."""
    return stem_of(word) if says_something(word) else ""


def says_something(word: str) -> bool:
    return word not in FUNCTION_WORDS and (len(word) > 1 or word.isdigit() or word in {"c", "r"})
