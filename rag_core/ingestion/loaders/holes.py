"""Sentences, links and lines in which a value is missing that nobody here knows."""

from __future__ import annotations

import re

HOLE = "\ue002"
"""Stands where the value was, until the sentence around it is mended."""
LINE = re.compile(
    rf"(?m)^[ \t]*(?:[-*+]|\d+[.)]|#+|\|)?[ \t|]*"
    rf"(?:\[?{HOLE}+\]?(?:\([^()\n]*\))?[ \t.,:|–-]*)+$\n?"
)
LINK = re.compile(rf"!?\[([^\[\]\n]*)\]\([^()\n]*{HOLE}[^()\n]*\)")
PAIR = re.compile(rf"\([ \t]*{HOLE}[ \t]*\)|\"{HOLE}\"|“{HOLE}”|(\*\*|__|\*|_|`){HOLE}\1")
BEFORE_STOP = re.compile(rf"[ \t]*{HOLE}+(?=[ \t,.;:!?)\n]|$)")
AFTER_GAP = re.compile(rf"(?:(?<=[ \t(])|^){HOLE}+[ \t]*", re.MULTILINE)


def mended(prose: str) -> str:
    """The text without its holes: a link whose address is known in part is its words, a line that
    held nothing else goes, and no gap is left before a stop."""
    if HOLE not in prose:
        return prose
    prose = PAIR.sub(HOLE, LINE.sub("", LINK.sub(r"\1", prose)))
    return AFTER_GAP.sub("", BEFORE_STOP.sub("", prose)).replace(HOLE, "")
