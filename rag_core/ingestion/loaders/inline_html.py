"""HTML inside Markdown, as Markdown or as its text."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from rag_core.ingestion.blocks import is_table, table_end
from rag_core.ingestion.loaders.inline import picture
from rag_core.ingestion.loaders.markup import table
from rag_core.ingestion.loaders.scripts import subscript, superscript

DROPPED = re.compile(
    r"<(script|style|iframe|video|audio|svg|noscript|template)\b[^<>]*>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
PICTURE = re.compile(r"<img\b((?:[^<>\"']++|\"[^\"]{0,2000}\"|'[^']{0,2000}')*+)>", re.IGNORECASE)
ATTRIBUTE = re.compile(
    r"(?<![\w-])(alt|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>{}]+))", re.IGNORECASE
)
TABLE = re.compile(r"<table\b[^<>]*>(.*?)(?:</table\s*>|\Z)", re.DOTALL | re.IGNORECASE)
ROW = re.compile(r"<tr\b[^<>]*>(.*?)(?=<tr\b|</table|</tr|\Z)", re.DOTALL | re.IGNORECASE)
CELL = re.compile(r"<t[dh]\b[^<>]*>(.*?)(?=<t[dh]\b|</t[dh]|</tr|\Z)", re.DOTALL | re.IGNORECASE)
LINK = re.compile(
    r"<a\b[^<>]{0,999}?\bhref\s*=\s*[\"']?(https?://[^\"'\s<>]{1,999})[^<>]{0,999}>(.{0,999}?)</a\s*>",
    re.DOTALL | re.IGNORECASE,
)
CODE = re.compile(r"<(code|kbd|samp|tt)\b[^<>]{0,999}>([^<>`\n]{1,999})</\1\s*>", re.IGNORECASE)
SUMMARY = re.compile(
    r"<summary\b[^<>]{0,500}>(?P<words>(?:(?!</?summary\b).){0,2000}?)</summary\s*>(?:[ \t]*\n)*",
    re.DOTALL | re.IGNORECASE,
)
ANY_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
SCRIPT = re.compile(
    r"<(?P<tag>su[bp])\b[^<>]{0,200}>(?P<words>(?:(?!</?su[bp]\b).){0,500}?)</(?P=tag)\s*>",
    re.DOTALL | re.IGNORECASE,
)
LINE_END = re.compile(r"(?<![ \t])[ \t]*+(?:<br\s*/?>|</(?:div|li|p)\s*>)[ \t]*+", re.IGNORECASE)
QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
BREAK = re.compile(r"<br\s*/?>[ \t]*\n?", re.IGNORECASE)
NAMES = (
    "a|abbr|address|article|aside|b|bdi|big|blockquote|center|cite|code|dd|del|details|dfn|div|dl"
    "|dt|em|embed|figcaption|figure|font|footer|header|hr|i|img|input|ins|kbd|label|li|link|main"
    "|mark|meta|nav|object|ol|p|param|picture|pre|q|s|samp|section|small|source|span|strike|strong"
    "|sub|summary|sup|table|tbody|td|tfoot|th|thead|time|tr|tt|u|ul|var|wbr"
)
TAG = re.compile(rf"</?(?:{NAMES})(?:\s[^<>]*|/)?>", re.IGNORECASE)
LINE_OF_TAGS = re.compile(rf"(?m)^[ \t]*(?:{TAG.pattern}[ \t]*)+$", re.IGNORECASE)
ITEM = re.compile(r"<li\b[^>]*>\s*", re.IGNORECASE)
ANY = re.compile(r"<[A-Za-z/!]")


def without_tags(prose: str) -> str:
    """Text without the tags of HTML; tables, links and code are written as Markdown has them."""
    if "<" not in prose or not ANY.search(prose):
        return prose
    prose = with_whole_lines(prose)
    for pattern, written in REPLACED:
        prose = pattern.sub(written, prose)
    return prose


def with_whole_lines(prose: str) -> str:
    """Text in which no tag breaks the row of a table or a heading in two."""
    if LINE_END.search(prose) is None:
        return prose
    lines = prose.split("\n")
    unquoted = [QUOTED.sub("", line) if ">" in line else line for line in lines]
    at = 0
    while at < len(lines):
        end = table_end(unquoted, at) if is_table(unquoted, at) else at + 1
        if end > at + 1 or unquoted[at].lstrip().startswith("#"):
            lines[at:end] = [LINE_END.sub(" ", line) for line in lines[at:end]]
        at = end
    return "\n".join(lines)


def as_summary(match: re.Match[str]) -> str:
    """The title of what can be unfolded, above its first line."""
    title = " ".join(ANY_TAG.sub("", match["words"]).split()).replace("*", "")
    line = match.string.rfind("\n", 0, match.start()) + 1
    before = ANY_TAG.sub("", match.string[line : match.start()]).strip(" \t>-*+0123456789.)")
    gap = "\n" if before else ""
    return f"{gap}**{title}**\n" if title else ""


def as_script(match: re.Match[str]) -> str:
    """Words above or below the line; the number of a note is no part of a title."""
    before = match.string[max(0, match.start() - 200) : match.start()]
    line = before[before.rfind("\n") + 1 :]
    words = TAG.sub("", LINK.sub(as_link, match["words"]))
    if match["tag"].lower() == "sub":
        return subscript(without_last_tag(line), words, match.string[match.end() : match.end() + 1])
    read = superscript(without_last_tag(line), words, match.string[match.end() : match.end() + 1])
    return "" if "(" in read and line.lstrip(" ").startswith("#") else read


def without_last_tag(line: str) -> str:
    """What stands before a mark, without the end of the italics that it may stand in."""
    return re.sub(r"</(?!su[bp])[a-z]+>\Z", "", line, flags=re.IGNORECASE)


def as_table(match: re.Match[str]) -> str:
    rows = [CELL.findall(row) for row in ROW.findall(match[1])]
    grid = [[cell_text(cell) for cell in row] for row in rows if row]
    if not grid or any("```" in cell or "<pre" in cell for row in rows for cell in row):
        return match[1]  # what places code side by side is no table of words
    return f"\n\n{table(grid)}\n\n"


def cell_text(cell: str) -> str:
    words = TAG.sub("", CODE.sub(r"`\2`", LINK.sub(as_link, BREAK.sub(" ", cell))))
    return " ".join(unescape(words).split()).replace("|", "\\|")


def as_picture(match: re.Match[str]) -> str:
    """An image by the words that stand for it; in a heading it is no part of the title."""
    line = match.string.rfind("\n", 0, match.start()) + 1
    if match.string[line : match.start()].lstrip(" ").startswith("#"):
        return ""
    said = {name.lower(): a or b or c for name, a, b, c in ATTRIBUTE.findall(match[1])}
    return picture(said.get("alt", ""), said.get("src", ""))


def as_link(match: re.Match[str]) -> str:
    words = " ".join(TAG.sub("", match[2]).split())
    return f"[{words}]({match[1]})" if words else ""


REPLACED: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (DROPPED, ""),
    (SCRIPT, as_script),
    (SUMMARY, as_summary),
    (PICTURE, as_picture),
    (TABLE, as_table),
    (LINK, as_link),
    (CODE, r"`\2`"),
    (BREAK, "\n"),
    (LINE_OF_TAGS, ""),
    (ITEM, "- "),
    (TAG, ""),
)
"""In this order: what knows what a tag means comes before what only takes it away."""
