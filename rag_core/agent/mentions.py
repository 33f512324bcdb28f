"""Mentions in a model's text come out as words: nobody is called by an answer."""

from __future__ import annotations

import html
import re

AT_SIGNS = str.maketrans({"＠": "@", "﹫": "@", "＜": "<", "＞": ">", "﹤": "<", "﹥": ">"})
ENTITY = re.compile(
    r"&(?:lt|gt|commat|excl|num|amp(?=;(?:lt|gt|commat|#))|#0*\d{2,3}|#x0*[0-9a-f]{2});", re.I
)
MASS = re.compile(r"@(?=(?:everyone|here|channel|group|all)\b)", re.IGNORECASE)
SLACK_DATE = re.compile(r"<!date\^[^<>|]*\|([^<>|]*)>")
LABELLED = re.compile(r"<[@#!][^<>|\n]*\|([^<>|\n]*)>")
SLACK_LINK = re.compile(r"<([a-z][a-z0-9+.-]*:[^<>|\s]*)\|([^<>\n]*)>", re.IGNORECASE)
SPECIAL = re.compile(r"<!(\w+)[^<>\n]*>")
NUMBERED = re.compile(r"<(@[!&]?|#)([A-Za-z0-9]+)>")
EMOJI = re.compile(r"<a?(:\w+:)\d+>")
COMMAND = re.compile(r"<(/[^<>\n:]+):\d+>")
OTHER = re.compile(r"<((?:t|id|sound):[^<>\n]+)>")
MAX_ROUNDS = 4


def without_mentions(prose: str) -> str:
    """Prose that calls nobody: mass mentions, ids and their disguises are plain words."""
    for _ in range(MAX_ROUNDS):
        plain = named(ENTITY.sub(decoded, prose))
        if plain == prose:
            break
        prose = plain
    return MASS.sub("@ ", prose)


def decoded(entity: re.Match[str]) -> str:
    """The character behind an entity, where it could begin a mention or a tag."""
    character = html.unescape(entity.group())
    return character if character in "<>@!#&/:" else entity.group()


def named(prose: str) -> str:
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
