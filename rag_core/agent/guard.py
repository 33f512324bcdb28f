"""The last gate: nothing leaves for a platform that has not passed here."""

from __future__ import annotations

import re
import unicodedata

from rag_core.agent.blocks import Span, code_spans
from rag_core.agent.links import without_links
from rag_core.agent.mentions import without_mentions

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that show nothing or turn the reading direction. The zero-width joiner (U+200D) and
the variation selectors stay, because emoji are made with them."""
CONTROL = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff]")
BLANK_LINES = re.compile(r"\n{3,}")


class GuardedText(str):
    """Text that the guard let through; platforms accept no other. Only `guarded` makes it."""

    __slots__ = ()


def visible(text: str) -> str:
    """Text as a reader sees it: composed, without invisible or direction-changing characters."""
    composed = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    return CONTROL.sub("", INVISIBLE.sub("", composed))


def guarded(text: str) -> GuardedText:
    """Text that can do nothing but be read: no live link, no image, no mention, no trick.

    What stands in code stays as it is; only an open fence is closed."""
    return GuardedText(disarmed(text).strip("\n"))


def disarmed(text: str) -> str:
    """The same for a piece of a text, with the white space around it."""
    spans = code_spans(visible(text))
    return "".join(closed(span) if span.is_code else harmless(span.text) for span in spans)


def harmless(prose: str) -> str:
    """Prose without links, images, tags, mentions and stray code marks."""
    return without_links(without_mentions(prose.replace("`", "'")))


def closed(span: Span) -> str:
    """Code with its closing fence: what follows must not be read as code, nor code as prose."""
    lines = span.text.rstrip("\n").split("\n")
    fence = lines[0].strip(" \t>")
    if not fence.startswith(("```", "~~~")) or span.text.count(fence[:3]) > 1:
        return span.text
    return span.text.rstrip("\n") + "\n" + fence[: len(fence) - len(fence.lstrip(fence[0]))]
