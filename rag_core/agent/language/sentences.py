"""Sentences of a paragraph, with the markers that belong to them."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_core.agent.language.blocks import INLINE_CODE

MARKER = re.compile(r"\[\^?(\d{1,4})\]")
MARKERS = re.compile(r"[ \t]*\[\^?\d{1,4}\]")
CODE_OR_MARKER = re.compile(rf"{INLINE_CODE.pattern}|{MARKERS.pattern}")
BOUNDARY = re.compile(
    r"[.!?…。！？](?:"  # one sign first and all else behind it: so a text is passed over quickly
    r"(?:(?<=\][.!?…])[.!?…]*"
    r"|(?<=[.!?…])[.!?…]*(?:[ \t]*\[\^?\d{1,4}\])+)(?=\s)"  # with a marker, whatever follows
    r"|(?:(?<=[.!?…])[.!?…]*[\"'”’)\]*_]*|(?<=[。！？])[。！？]*)"  # the end of a sentence
    r"(?:[ \t]*\[\^?\d{1,4}\])*"  # its markers
    r"(?=\s+(?:[^\sa-z]|\Z)|\s*\Z|(?<=[。！？]))"  # and no small letter after it
    r")"
)
SHORT_FORMS = "cf|vs|dr|mr|mrs|ms|prof|fig|no|sec|ch|approx|resp|incl|max|min|st"
SHORTENED = frozenset(SHORT_FORMS.split("|"))
ABBREVIATION = re.compile(
    rf"(?:^|[\s(])(?:e\.g|i\.e|{SHORT_FORMS}|[A-Z]|(?:[A-Z]\.)+[A-Z])\.$",
    re.IGNORECASE,
)
NUMBERS = re.compile(
    r"(?:^|[\s(])(?:[Ee]xts?|[Tt]el|Arts?|[Pp]p|[Pp]aras?|[Vv]ols?|[Ee]qs?|[Nn]os|[Ff]igs|[Cc]hap"
    r"|[Rr]ev|[Vv]er|ca|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.$"
)
"""What is cut short before its number, and is a word or no word elsewhere: `ext. 2040`."""
FIGURE = re.compile(r"\s+\d")
MEASURED = re.compile(r"\d\s?(?:[A-Za-z]|min|max|sec)\.$")
"""A unit after its number ends a sentence like any other word: `25 g. These numbers …`."""
LONGEST_MEASURED = len("5 min.")
VARIABLE = re.compile(r"(?<![\w.])[A-Za-z]\.$")
OPENS_SENTENCE = re.compile(
    r"\s+(?:The|An?|This|That|These|Those|There|It|They|We|You|He|She|If|When|In|On|At|For|To|So|But"
    r"|And|Thus|Then|However|Each|All|No|Its|Their|Every|Some|Most|Both|After|Before|Since|As)\s"
)
"""What no name goes on with: `X reduces to Y. There …` is two sentences, `J. Smith` is a name."""
NUMBERED = re.compile(r"^\s*\d{1,3}\.$")


@lru_cache(maxsize=2_048)
def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences in order, each with its markers and the space before it; nothing is lost."""
    code = [found.span() for found in INLINE_CODE.finditer(text)] if "`" in text else []
    sentences: list[str] = []
    start = 0
    for found in BOUNDARY.finditer(text):
        if any(begin <= found.start() < end for begin, end in code):
            continue
        head = text[start : found.start() + 1]
        if is_shortened(head, text[found.end() :]):
            continue
        sentences.append(text[start : found.end()])
        start = found.end()
    if start < len(text):
        sentences = with_rest(sentences, text[start:])
    return tuple(sentences)


def is_shortened(head: str, rest: str) -> bool:
    """Whether a full stop belongs to the word before it and ends nothing."""
    # The ends alone are read: a long sentence has many places that might be one.
    last_word = head[max(head.rfind(" "), 0) :]
    if FIGURE.match(rest) and NUMBERS.search(last_word):
        return True
    if is_plain(last_word):
        return False
    if MEASURED.search(head[-LONGEST_MEASURED:]):
        return False
    if VARIABLE.search(last_word) and OPENS_SENTENCE.match(rest):
        return False
    return ABBREVIATION.search(last_word) is not None or NUMBERED.match(head) is not None


def is_plain(word: str) -> bool:
    """Whether a sentence ends with this as nearly all do: with a word that is never cut short."""
    if not word.endswith("."):
        return True
    letters = word[:-1].removeprefix(" ")
    is_word = len(letters) > 1 and letters.isascii() and letters.isalpha()
    return is_word and letters.lower() not in SHORTENED


def with_rest(sentences: list[str], rest: str) -> list[str]:
    """White space and lone markers at the end belong to the last sentence."""
    if sentences and not MARKERS.sub("", rest).strip():
        return [*sentences[:-1], sentences[-1] + rest]
    return [*sentences, rest]


def without_markers(text: str) -> str:
    """The text without its markers and without the space before them; code stays as it is."""
    if "`" not in text:
        return MARKERS.sub("", text)
    return CODE_OR_MARKER.sub(lambda found: found.group() if found["ticks"] else "", text)
