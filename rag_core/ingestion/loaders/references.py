"""Links by reference: the addresses at a page's end are put where they belong."""

from __future__ import annotations

import re

DEFINITION = re.compile(
    r"(?m)^ {0,3}\[(?!\^)([^\[\]\n]+)\]:[ \t]*\n?[ \t]*<?(\S+?)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$\n?"
)
ABBREVIATION = re.compile(r"(?m)^\*\[[^\]\n]+\]:[^\n]*\n?")
USE = re.compile(r"(!?\[((?:[^\[\]\n]|\n(?!\n)|\[[^\[\]\n]*\])+)\])(?:\[([^\[\]\n]*)\])?(?![(:\[])")


def definitions_in(prose: str) -> dict[str, str]:
    """The addresses by name; of two with one name, the first counts."""
    found: dict[str, str] = {}
    for match in DEFINITION.finditer(prose):
        found.setdefault(key(match[1]), match[2])
    return found


def with_links(prose: str, addresses: dict[str, str]) -> str:
    """Text whose links carry their addresses themselves; the list of addresses is taken away."""

    def linked(match: re.Match[str]) -> str:
        address = addresses.get(key(match[3] or match[2]))
        return match[0] if address is None else f"{match[1]}({address})"

    return USE.sub(linked, ABBREVIATION.sub("", DEFINITION.sub("", prose)))


def key(name: str) -> str:
    return " ".join(name.split()).casefold()
