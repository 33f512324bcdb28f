"""Markdown and titles, safe for Slack: nothing in them can notify people or hide where it leads."""

from __future__ import annotations

import re

from adapters.excerpts import one_line
from adapters.graphemes import safe_cut
from adapters.markdown_blocks import BlockKind, blocks_of

INLINE_CODE = re.compile(r"``[^\n]*?``|`[^`\n]++`")
AUTOLINK = re.compile(r"<https?://[^\s<>|]+>")
LOOSE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt);)")
GREATER = re.compile(r"^((?:[ \t]*>)+)|>", re.MULTILINE)
"""At the start of a line it quotes, which is Markdown's and harmless."""
COMMAND = re.compile(r"<(?=!(?:channel|here|everyone|subteam|date)|[@#][A-Z0-9])")
BOLD = re.compile(r"\*\*(?=\S)([^*\n]+)(?<=\S)\*\*")
ITEM = re.compile(r"^([ \t]*)[-*+][ \t]+", re.MULTILINE)
ZERO_WIDTH_SPACE = "\u200b"
WEB_ADDRESS = re.compile(r"https?://[^\s/?#]+", re.IGNORECASE)
LONGEST_ADDRESS, LONGEST_TITLE = 1_500, 150


def to_slack_markdown(text: str) -> str:
    """For a `markdown` block: code as it is, elsewhere `& < >` as entities.

    In code an entity would show as such, so there only what Slack takes for a command is broken,
    with a character that has no width."""
    done, place = [], 0
    for block in blocks_of(text):
        if block.kind is BlockKind.FENCE:
            done += [_prose(text[place : block.start]), _code(text[block.start : block.end])]
            place = block.end
    return "".join([*done, _prose(text[place:])])


def to_mrkdwn(markdown: str) -> str:
    """Markdown → Slack's older marks, for where no Markdown block is taken.

    Tables become code, which keeps their columns. Nothing in it can notify anybody."""
    done = []
    for block in blocks_of(markdown):
        text = markdown[block.start : block.end]
        match block.kind:
            case BlockKind.FENCE:
                done.append(_fenced(text, closed=block.closed_from is not None))
            case BlockKind.TABLE:
                done.append(f"```\n{escaped(text)}\n```")
            case BlockKind.HEADING:
                done.append(f"*{escaped(text.lstrip('# ').rstrip('# ')).replace('*', '')}*")
            case BlockKind.TEXT:
                done.append(ITEM.sub(r"\1• ", BOLD.sub(r"*\1*", escaped(text))))
    return "\n\n".join(done)


def _fenced(text: str, *, closed: bool) -> str:
    """Code between the only marks that Slack knows for it; what names its language comes first."""
    opening, *lines = text.splitlines()
    inside = lines[:-1] if closed else lines
    language = opening.strip().lstrip("`~").strip()
    named = [language] if language else []
    return "\n".join(["```", *map(escaped, [*named, *inside]), "```"])


def escaped(text: str) -> str:
    """For mrkdwn: the three characters that Slack gives a meaning."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def fallback(markdown: str, limit: int) -> str:
    """The text beside a `markdown` block, for notifications and screen readers."""
    text = LOOSE_AMPERSAND.sub("&amp;", markdown).replace("<", "&lt;").replace(">", "&gt;")
    return text if len(text) <= limit else text[: safe_cut(text, 0, limit)]


def link(title: str, url: str | None) -> str:
    """A title in mrkdwn, linked where there is an address of the web to lead to."""
    label = escaped(one_line(title, LONGEST_TITLE))
    if url is None or not WEB_ADDRESS.match(url) or len(url) > LONGEST_ADDRESS:
        return label
    return f"<{_address(url)}|{label}>"


def _address(url: str) -> str:
    quoted = "".join(_percent(character) for character in url)
    return quoted.replace("&", "&amp;")


def _percent(character: str) -> str:
    if character in '<>|"`' or character.isspace() or not character.isprintable():
        return "".join(f"%{byte:02X}" for byte in character.encode())
    return character


def _prose(text: str) -> str:
    done, place = [], 0
    for found in INLINE_CODE.finditer(text):
        done += [_words(text, place, found.start()), _code(found[0])]
        place = found.end()
    return "".join([*done, _words(text, place, len(text))])


def _words(text: str, start: int, end: int) -> str:
    done, place = [], start
    for found in AUTOLINK.finditer(text, start, end):
        done += [_entities(text[place : found.start()]), LOOSE_AMPERSAND.sub("&amp;", found[0])]
        place = found.end()
    return "".join([*done, _entities(text[place:end])])


def _entities(text: str) -> str:
    text = LOOSE_AMPERSAND.sub("&amp;", text).replace("<", "&lt;")
    return GREATER.sub(lambda found: found[1] or "&gt;", text)


def _code(text: str) -> str:
    return COMMAND.sub(f"<{ZERO_WIDTH_SPACE}", text)
