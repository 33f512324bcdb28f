"""Text as a reader sees it, without characters that hide something."""

from __future__ import annotations

import re
import unicodedata

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
LINE_END = re.compile("\r\n|[\r\u2028\u2029]")
CONTROL = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff]")


def visible(text: str) -> str:
    """Text as a reader sees it: composed, without invisible or direction-changing characters."""
    composed = unicodedata.normalize("NFC", LINE_END.sub("\n", text))
    if composed.isascii():
        return CONTROL.sub("", composed)
    return LONE_JOINER.sub("", CONTROL.sub("", INVISIBLE.sub("", composed)))
