"""What models say around an answer: courtesies, and lists of sources that nobody asked for."""

from __future__ import annotations

import re

COURTESY = re.compile(
    r"^\W*(?:(?:great|good|excellent|interesting) question"
    r"|(?:sure|certainly|of course|absolutely)\b"
    r"(?=\W*$|[!,.] (?:here|let))|i(?:'d| would) be (?:happy|glad) to\b"
    r"|here(?:['’]s| is| are) (?:what|how|the (?:answer|information|details|steps?))\b"
    r"|(?:i )?hope (?:this|that|it) helps|(?:please )?let me know\b|(?:please )?feel free to\b"
    r"|if you (?:have|need) (?:any )?(?:more|further|other|additional|anything)\b"
    r"|is there anything else|do you (?:need|want) (?:any)?\s?(?:more|further)"
    r"|gute frage|gerne\b|ich hoffe,? das hilft|(?:sag|sagen sie) (?:mir )?bescheid"
    r"|(?:buena|excelente) pregunta|espero que (?:esto )?(?:te |le )?(?:ayude|sirva)"
    r"|(?:bonne|excellente) question|j['’]espère que (?:cela|ça))",
    re.IGNORECASE,
)
SOURCES = re.compile(
    r"^[ \t]*(?:#{1,6}\s*|[*_]{1,3})?(?:sources?|references?|citations?|footnotes?|quellen|fuentes"
    r"|références|referencias)(?:\s*:?[*_]{1,3}\s*:?|\s*:|\s*$)"
    r"[ \t]*(?:\[\^?\d{1,3}\][,;. \t]*)*$",
    re.IGNORECASE | re.MULTILINE,
)
LEAD_IN = re.compile(
    r"^\W*(?:(?:in (?:other words|short|summary|brief|addition|general|particular|essence)"
    r"|to sum up|additionally|furthermore|moreover|also|however|therefore|thus|hence|overall"
    r"|generally|specifically|essentially|basically|finally|importantly|similarly|likewise"
    r"|for (?:example|instance)|as a result|on the other hand|yes),\s+"
    r"|(?:please )?note that\s+|this means that\s+"
    r"|(?:according to|based on|as (?:stated|described|mentioned|noted|explained) in)"
    r" (?:the|these|your|our) (?:provided |retrieved |available )?"
    r"(?:documents?|documentation|passages?|sources?|texts?|materials?|information),\s+)",
    re.IGNORECASE,
)
"""How a sentence is joined to what was said before: that claims nothing."""
LISTED = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.):]|\[\^?\d{1,3}\]:?|https?://|【)")
"""How a line of such a list begins."""


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence is said to the asker, and tells nothing."""
    return COURTESY.match(sentence) is not None


def without_lead_in(sentence: str) -> str:
    """What a sentence claims, without the words that only join it to others."""
    return LEAD_IN.sub("", sentence)


def without_sources(draft: str) -> str:
    """The draft without a list of sources at its end: the footnotes are the list."""
    found = list(SOURCES.finditer(draft))
    if not found:
        return draft
    last = found[-1]
    lines = [line for line in draft[last.end() :].splitlines() if line.strip()]
    return draft[: last.start()].rstrip() if all(map(LISTED.match, lines)) else draft
