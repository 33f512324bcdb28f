"""What a site's robots.txt asks of visitors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

MAX_ROBOTS = 512 * 1024
"""Bytes that are read of it; crawlers need not read more."""
MAX_RULES = 2_000
MAX_DELAY = 10.0
"""Seconds between two pages; a site that asks for more is read at this pace."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of what may or may not be asked for; the longest that fits decides."""

    pattern: str
    allows: bool

    def fits(self, target: str) -> bool:
        """Each piece between stars is taken where it first comes: no pattern can cost much."""
        first, *rest = self.pattern.removesuffix("$").split("*")
        if not target.startswith(first):
            return False
        at = len(first)
        ends = self.pattern.endswith("$")
        last = rest.pop() if ends and rest else None
        for piece in rest:
            at = target.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        if last is not None:
            return target.endswith(last) and len(target) - len(last) >= at
        return not ends or at == len(target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """The rules that hold for one visitor, and where the sitemaps are."""

    rules: tuple[Rule, ...] = ()
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str, *, agent: str) -> Self:
        groups = list(groups_of(text.removeprefix("\ufeff").splitlines()))
        own = [group for group in groups if agent in group.agents]
        held = own or [group for group in groups if "*" in group.agents]
        rules = tuple(rule for group in held for rule in group.rules)[:MAX_RULES]
        delay = max((group.delay for group in held), default=0.0)
        sitemaps = tuple(value for name, value in lines_of(text.splitlines()) if name == "sitemap")
        return cls(rules=rules, delay=min(delay, MAX_DELAY), sitemaps=sitemaps)

    def allows(self, target: str) -> bool:
        """Whether a path with its query may be asked for; where two rules tie, the kinder one."""
        fitting = [(len(rule.pattern), rule.allows) for rule in self.rules if rule.fits(target)]
        return max(fitting, default=(0, True))[1]


class Group:
    """Some visitors, and what is asked of them."""

    def __init__(self) -> None:
        self.agents: set[str] = set()
        self.rules: list[Rule] = []
        self.delay = 0.0
        self.is_open = True
        """Whether further visitors may still be named."""


def lines_of(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def groups_of(lines: Iterable[str]) -> Iterable[Group]:
    group = Group()
    for name, value in lines_of(lines):
        if name == "user-agent":
            if not group.is_open:
                yield group
                group = Group()
            group.agents.add(value.partition("/")[0].strip().lower())
        elif name in {"allow", "disallow", "crawl-delay"}:
            group.is_open = False
            take(group, name, value)
    yield group


def take(group: Group, name: str, value: str) -> None:
    if name == "crawl-delay":
        seconds = re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?", value)
        group.delay = float(value) if seconds else group.delay
    elif value:  # an empty rule forbids nothing
        group.rules.append(Rule(value, allows=name == "allow"))
