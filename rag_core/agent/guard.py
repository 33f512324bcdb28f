"""The last gate: nothing leaves for a platform that has not passed here."""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that show nothing or turn the reading direction. The zero-width joiner (U+200D) and
the variation selectors stay, because emoji are made with them."""
CONTROL = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f]")


class GuardedText(str):
    """Text that the guard let through; platforms accept no other. Only `guarded` makes it."""

    __slots__ = ()


def visible(text: str) -> str:
    """Text as a reader sees it: composed, without invisible or direction-changing characters."""
    composed = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    return CONTROL.sub("", INVISIBLE.sub("", composed))
