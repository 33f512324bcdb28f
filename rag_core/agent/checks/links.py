"""Links in a model's text come out as words: footnotes carry the links, the text does not."""

from __future__ import annotations

import re

TARGET = r"(?:<[^<>\n]*>|(?:[^()\s\\]|\\.|\((?:[^()\s]|\([^()\s]*\))*\))*)"
TITLE = r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?"
IMAGE = re.compile(rf"!\[(?:[^\[\]]|\[[^\[\]]*\])*\](?:\(\s*{TARGET}{TITLE}\s*\)|\[[^\[\]]*\])")
INLINE = re.compile(rf"\[((?:[^\[\]\\]|\\.)*)\]\(\s*({TARGET}){TITLE}\s*\)")
REFERENCE = re.compile(r"\[((?:[^\[\]\\]|\\.)+)\] ?\[[^\[\]\n]*[^\[\]\d\n^][^\[\]\n]*\]")
DEFINITION = re.compile(r"^[ \t>*+\-\d.)]*\[[^\[\]\n]+\]:[^\n]*$\n?", re.MULTILINE)
AUTOLINK = re.compile(r"<((?:[a-z][a-z0-9+.-]*:|www\.)[^<>\s|]*|[^<>\s@|]+@[^<>\s@|]+)>", re.I)
TAG = re.compile(
    r"<!--.*?-->|</?(?:a|area|audio|base|button|details|embed|form|frame|frameset|iframe|img"
    r"|input|link|map|meta|object|picture|script|source|style|svg|template|video)(?=[\s/>])[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
BARE = re.compile(
    r"((?:[a-z][a-z0-9+.-]{1,20}://|(?<![a-z0-9])(?:www\.|mailto:|javascript:|data:|tel:|sms:))"
    r"[^\s<>`\"'“”‘’|\\^{}\[\]]*[^\s<>`\"'“”‘’|\\^{}\[\].,;:!?)*_])",
    re.IGNORECASE,
)
SCHEMELESS = re.compile(
    r"(?<![\w/@.`:-])((?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|gg|co|info|biz|xyz|me|ru|cn|tk|top"
    r"|site|online|link|click)/[^\s<>`\"'|\\^{}\[\]]*[^\s<>`\"'|\\^{}\[\].,;:!?)*_])",
    re.IGNORECASE,
)


def without_links(prose: str) -> str:
    """Links and images as their words; what stands in a link may need another round."""
    prose = DEFINITION.sub("", TAG.sub("", prose))
    return AUTOLINK.sub(r"\1", REFERENCE.sub(r"\1", INLINE.sub(labelled, IMAGE.sub("", prose))))


def unlinked(prose: str) -> str:
    """Prose in which nothing can be clicked: what is left of links is broken up, and addresses
    are shown as code."""
    prose = prose.replace("](", "] (")
    return SCHEMELESS.sub(r"`\1`", BARE.sub(r"`\1`", prose))


def labelled(link: re.Match[str]) -> str:
    """A link's words, and its address where that is one of the world outside."""
    label, target = link.group(1).strip(), link.group(2).strip("<>")
    if not re.match(r"(?:https?:|mailto:)", target, re.IGNORECASE) or target in label:
        return label
    return f"{label} ({target})" if label else target
