"""The block of settings that a Markdown file may begin with."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

BLOCK = re.compile(
    r"\A---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
TOML = re.compile(r"\A\+\+\+[ \t]*\n(?P<toml>.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
MAX_BLOCK = 64 * 1024
"""Nobody writes more by hand; what is longer is text between two rules, or an attack."""

PLAIN = re.compile(r"(?:[A-Za-z_]\w*: +[A-Za-z][\w.,/()'-]*(?: [\w.,/()'&-]+)*\n)*")
"""Lines that name one text each, with nothing in them that YAML reads in another way."""
NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

DEEPEST = 200
"""Brackets in a block: deep nests of them keep a parser busy for minutes."""

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def split_front_matter(text: str) -> tuple[Mapping[str, Any], str, str | None]:
    """The settings, the text after them, and a notice where the block could not be read."""
    if text.startswith("+++"):
        return split_toml(text)
    match = BLOCK.match(text)
    if match is None or len(match["yaml"]) > MAX_BLOCK:
        return {}, text, None
    body = text[match.end() :]
    if (plain := plain_fields(match["yaml"])) is not None:
        return plain, body, None
    if sum(map(match["yaml"].count, "[{")) > DEEPEST:
        return {}, body, "its front matter has too many brackets and was left out"
    try:
        if has_aliases(match["yaml"]):
            return {}, body, "its front matter uses YAML aliases and was left out"
        fields = yaml.load(match["yaml"], Loader=Loader)  # noqa: S506 - a safe loader, in C
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, body, "its front matter is not valid YAML and was left out"
    if fields is None:
        return {}, body, None
    if not isinstance(fields, dict):
        return {}, text, None  # two rules with a paragraph between them
    return {str(name): value for name, value in fields.items()}, body, None


def plain_fields(block: str) -> dict[str, Any] | None:
    """What a block of plain lines says, a tenth of the time that a parser of YAML needs."""
    if PLAIN.fullmatch(block) is None:
        return None
    fields: dict[str, Any] = {}
    for line in block.splitlines():
        name, _, value = line.partition(":")
        value = value.strip()
        if {name.lower(), value.lower()} & NOT_TEXT:
            return None
        fields[name] = value
    return fields


def split_toml(text: str) -> tuple[Mapping[str, Any], str, str | None]:
    """The same for a block between plus signs, as Hugo and Zola have it."""
    match = TOML.match(text)
    if match is None or len(match["toml"]) > MAX_BLOCK:
        return {}, text, None
    body = text[match.end() :]
    try:
        return tomllib.loads(match["toml"]), body, None
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}, body, "its front matter is not valid TOML and was left out"


def has_aliases(block: str) -> bool:
    """Whether a block repeats parts of itself: a few lines of that can unfold to gigabytes."""
    return "*" in block and any(
        isinstance(event, yaml.AliasEvent) for event in yaml.parse(block, Loader=Loader)
    )
