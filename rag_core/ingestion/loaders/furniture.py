"""What sites draw around a page's text: edit links, badges, dates, trails of links, bylines."""

from __future__ import annotations

import re

LINKED = r"\[[^\[\]\n]{1,120}\]\([^()\n]{0,500}\)"
EDIT_WORDS = (
    r"(?:(?:edit|improve|change|fork) (?:this|the) (?:page|article|doc(?:ument)?|section|file)"
    r"|edit (?:on|in|at|via) \w+|suggest (?:an? )?(?:edits?|changes?)|view (?:page )?source"
    r"|report (?:an issue|a problem) (?:with|on) this page"
    r"|was this (?:page|article|doc) helpful|(?:back|return|go) to (?:the )?top"
    r"|skip to (?:main )?content|print this page|share this page)"
)
EDIT_LINE = re.compile(
    rf"(?mi)^[ \t>*_-]*(?:!?\[)?[^\w\n\[\]()]{{0,8}}{EDIT_WORDS}(?: (?:on|in|at|via) \w+)?"
    rf"[^\w\n]{{0,4}}(?:\]\([^()\n]*\))?[ \t*_.!|-]*$\n?"
)
EDIT_MARK = re.compile(
    r"(?i)[ \t]*\\?\[(?:\[edit\]\([^()\n]*\)|edit(?: source)?\\?\](?:\([^()\n]*\))?(?!\w))\]?"
)
DATED = re.compile(
    r"(?mi)^[ \t>*_]*(?:page )?"
    r"(?:last (?:updated?|modified|edited|reviewed|changed)|updated|modified)(?: on| at| by|:)+"
    r"[ \t*_]*[^\n]{0,80}?\d{4}[^\n]{0,40}$\n?"
)
TRAIL = re.compile(
    rf"\A\s*(?:[-*>][ \t]+)?{LINKED}"
    rf"(?:[ \t]*(?:>|»|›|→|/|\\>|&gt;|::)[ \t]*(?:{LINKED}|[^\n\[\]>»›|]{{1,80}}))+[ \t]*(?:\n|\Z)"
)
TURN_WORDS = (
    r"(?:[←→«»⬅➡<>‹›⏮⏭◀▶\s]|&[lr]aquo;|&[lr]arr;|previous|prev|next|home|up|index|contents"
    r"|chapter|lesson|page|section)+"
)
TURN = re.compile(
    rf"(?mi)^(?=[^\n]*(?:prev|next|←|→|«|»))[ \t*_|>-]*"
    rf"(?:\[{TURN_WORDS}(?::[^\[\]\n]*)?\]\([^()\n]*\)[ \t*_|·•-]*)+$\n?"
)
"""A line of nothing but links to the page before, the next and the one above."""
BYLINE = re.compile(
    r"(?i)[ \t*_>]*(?:(?:written|authored|posted|published|reviewed) (?:and \w+ )?by:?|authors?:"
    r"|contributors?:|by(?= \[))[ \t*_]+[^\n]{2,160}"
)
BADGE = (
    r"!\[[^\[\]\n]*\]\([^()\n]*(?:shields\.io|badge|travis-ci|codecov\.io|coveralls|circleci\.com"
    r"|readthedocs\.org/projects)[^()\n]*\)"
)
BADGES = re.compile(
    rf"\[[ \t]*{BADGE}[ \t]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])|(?:^|(?<=\s)){BADGE}", re.MULTILINE
)
DATA_IMAGE = re.compile(r"!\[([^\[\]\n]*)\]\(data:[^()\s]*\)")
COPYRIGHT = re.compile(
    r"(?mi)^[ \t*_>-]*(?:copyright(?: \(c\)| ©)?|©|\(c\))[ \t]*\d{4}[^\n]{0,200}\s*\Z"
)
BYLINES_WITHIN = 3
"""Paragraphs at the head of a page among which its authors are named."""
LONGEST_BYLINE = 25
"""Words; what is longer says more than who wrote it."""
EDIT_HINTS = (
    "edit", "this page", "this article", "this doc", "this section", "this file", "suggest",
    "source", " top", "main content", "skip to",
)  # fmt: skip
DATE_HINTS = ("updated", "modified", "last ")
TURN_HINTS = ("prev", "next", "←", "→", "«", "»")
BYLINE_HINTS = ("by ", "by:", "author", "contributor")
"""What a text has in it that a rule may find something in: looking for it takes next to nothing."""


def has_any(hints: tuple[str, ...], lowered: str) -> bool:
    return any(hint in lowered for hint in hints)


def without_furniture(prose: str) -> str:
    """Text without lines that belong to the site. Each rule asks for a whole line: in a sentence
    the same words are the author's."""
    lowered = prose.lower()
    if "![" in prose:
        prose = DATA_IMAGE.sub(r"\1", BADGES.sub("", prose))
    if "[edit" in lowered:
        prose = EDIT_MARK.sub("", prose)
    if "](" in prose[: prose.find("\n", len(prose) - len(prose.lstrip()))]:
        prose = TRAIL.sub("", prose)
    if has_any(EDIT_HINTS, lowered):
        prose = EDIT_LINE.sub("", prose)
    if "](" in prose and has_any(TURN_HINTS, lowered):
        prose = TURN.sub("", prose)
    if has_any(DATE_HINTS, lowered):
        prose = DATED.sub("", prose)
    if "copyright" in lowered or "©" in prose or "(c)" in lowered:
        prose = COPYRIGHT.sub("", prose)
    return without_byline(prose) if has_any(BYLINE_HINTS, lowered) else prose


def without_byline(prose: str) -> str:
    """Text without the line at its head that says who wrote it."""
    paragraphs = prose.split("\n\n", BYLINES_WITHIN)
    if not any(is_byline(each) for each in paragraphs[:BYLINES_WITHIN]):
        return prose
    head = [each for each in paragraphs[:BYLINES_WITHIN] if not is_byline(each)]
    return "\n\n".join([*head, *paragraphs[BYLINES_WITHIN:]])


def is_byline(paragraph: str) -> bool:
    line = paragraph.strip()
    return (
        "\n" not in line
        and len(line.split()) <= LONGEST_BYLINE
        and BYLINE.fullmatch(line) is not None
    )
