"""The last gate: nothing leaves for a platform that has not passed here."""

from __future__ import annotations

import re
import unicodedata

from rag_core.agent.checks.links import unlinked, without_links
from rag_core.agent.checks.mentions import uncalled, unmasked, without_mentions
from rag_core.agent.language.blocks import FENCE, Span, code_spans, is_closing, with_common_fences

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that show nothing or turn the reading direction. The zero-width joiner (U+200D) and
the variation selectors stay, because emoji are made with them."""
LONE_JOINER = re.compile(
    "(?:(?<=[\u0000-\u007f])|^)\u200d+|\u200d+(?=[\u0000-\u007f]|$)"
    '|(?<=[\u0000-"$-)+-/:-\u007f])[\ufe00-\ufe0f]+'
)
"""Joiners and selectors beside plain letters make no emoji: there they only hide something."""
CONTROL = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff]")


FENCE_LIKE = re.compile("~{3,}")
MAX_ROUNDS = 6
"""Links in links in links: deeper than anybody writes by mistake; the rest is broken up."""
WITHIN = "\u0000"


class GuardedText(str):
    """Text that the guard let through; platforms accept no other. Only `guarded` makes it."""

    __slots__ = ()


def visible(text: str) -> str:
    """Text as a reader sees it: composed, without invisible or direction-changing characters."""
    composed = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    if composed.isascii():
        return CONTROL.sub("", composed)
    return LONE_JOINER.sub("", CONTROL.sub("", INVISIBLE.sub("", composed)))


def guarded(text: str) -> GuardedText:
    """Text that can do nothing but be read: no live link, no image, no mention, no trick.

    What stands in code stays as it is; only an open fence is closed."""
    return GuardedText(disarmed(text).strip("\n"))


def disarmed(text: str, *, within_line: bool = False) -> str:
    """The same for a piece of a text, with the white space around it."""
    safe = ""
    for span in code_spans(with_common_fences(visible(text))):
        if span.is_code:
            piece = closed(span)
        elif (
            not safe.endswith("\n") if safe else within_line
        ):  # what would be a line's beginning here is none
            piece = harmless(WITHIN + span.text).removeprefix(WITHIN)
        else:
            piece = harmless(span.text)
        if safe.endswith("`") and piece.startswith("`"):
            safe += " "  # two code spans that touch would be read as something else
        safe += piece
    return safe


def harmless(prose: str) -> str:
    """Prose without links, images, tags, mentions and stray code marks."""
    prose = unmasked(prose.replace("`", "'"))
    for _ in range(MAX_ROUNDS):
        plain = without_links(without_mentions(prose))
        if plain == prose:
            break
        prose = plain
    return unlinked(FENCE_LIKE.sub("~~", uncalled(prose)))


def closed(span: Span) -> str:
    """Code with its closing fence: what follows must not be read as code, nor code as prose."""
    first, *rest = span.text.rstrip("\n").split("\n")
    fence = FENCE.match(first)
    if fence is None or not fence.group(1) or (rest and is_closing(rest[-1], fence.group(1))):
        return span.text
    return f"{span.text.rstrip(chr(10))}\n{fence.group(1)}"
