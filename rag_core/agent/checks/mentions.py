"""Mentions in a model's text come out as words: nobody is called by an answer."""

from __future__ import annotations

import html
import re

AT_SIGNS = str.maketrans({"＠": "@", "﹫": "@", "＜": "<", "＞": ">", "﹤": "<", "﹥": ">"})
ENTITY = re.compile(
    r"&(?:lt|gt|commat|excl|num|amp(?=;(?:lt|gt|commat|#))|#0*\d{2,3}|#x0*[0-9a-f]{2});", re.I
)
MASS = re.compile(r"@(?=everyone|here|channel|group\b)", re.IGNORECASE)
SLACK_DATE = re.compile(r"<!date\^[^<>|]*\|([^<>|]*)>")
LABELLED = re.compile(r"<[@#!][^<>|\n]*\|([^<>|\n]*)>")
SLACK_LINK = re.compile(r"<([a-z][a-z0-9+.-]*:[^<>|\s]*)\|([^<>\n]*)>", re.IGNORECASE)
SPECIAL = re.compile(r"<!(\w+)[^<>\n]*>")
NUMBERED = re.compile(r"<(@[!&]?|#)([A-Za-z0-9]+)>")
EMOJI = re.compile(r"<a?(:\w+:)\d+>")
COMMAND = re.compile(r"<(/[^<>\n:]+):\d+>")
OTHER = re.compile(r"<((?:t|id|sound):[^<>\n]+)>")
OPENED = re.compile(r"<(?=[@#!])")
"""What is left of a mention that was never closed, or was hidden deeper than anybody needs."""
MAX_ROUNDS = 4


def unmasked(prose: str) -> str:
    """Prose in which a sign that could begin a mention or a tag is that sign, not its entity."""
    for _ in range(MAX_ROUNDS):
        plain = ENTITY.sub(decoded, prose)
        if plain == prose:
            break
        prose = plain
    return prose


def uncalled(prose: str) -> str:
    """Prose in which a mass mention, or the rest of a broken mention, is a plain word."""
    return MASS.sub("@ ", OPENED.sub("< ", prose))


def decoded(entity: re.Match[str]) -> str:
    """The character behind an entity, where it could begin a mention or a tag."""
    character = html.unescape(entity.group())
    return character if character in "<>@!#&/:" else entity.group()


def without_mentions(prose: str) -> str:
    """Mentions of people, channels, groups and times as the words that name them."""
    if "<" not in prose and "＜" not in prose and "＠" not in prose and "﹫" not in prose:
        return prose
    prose = folded(prose)
    prose = LABELLED.sub(r"\1", SLACK_DATE.sub(r"\1", prose))
    prose = SLACK_LINK.sub(r"\2 (\1)", prose)
    prose = NUMBERED.sub(r"@\2", SPECIAL.sub(r"@\1", prose))
    return OTHER.sub(r"\1", COMMAND.sub(r"\1", EMOJI.sub(r"\1", prose)))


def folded(prose: str) -> str:
    """Wide forms of the signs that mentions are made of, as the plain ones."""
    return prose.translate(AT_SIGNS)
