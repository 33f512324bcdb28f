"""The forms of Discord's settings, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator

from adapters.discord.config import AUTOMATIC, EVERYWHERE, ReaderRole, ShardRange
from rag_core.books.policy import ReaderProfile

PAIRS_RULE, NUMBERS_RULE = "comma-separated", "comma-separated"
READER_ROLE = re.compile(r"[0-9]+:(?:tier[1-4]|[ABC][12])")
SHARDS = re.compile(r"(\d+)-(\d+)/(\d+)")
MOST_SHARDS = 10_000


def listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def checked_numbers(text: str) -> str:
    if not all(item.isascii() and item.isdigit() for item in listed(text)):
        raise ValueError("not a list of ids")
    return text


def checked_pairs(text: str) -> str:
    if not all(re.fullmatch(r"[0-9]+:[0-9]+", item) for item in listed(text)):
        raise ValueError("not a list of pairs of ids")
    return text


def checked_reader_roles(text: str | None) -> str | None:
    if not all(READER_ROLE.fullmatch(item) for item in listed(text or "")):
        raise ValueError("not a list of roles with what they say")
    return text


def checked_place(text: str) -> str:
    return text if text.strip() == EVERYWHERE else checked_numbers(text)


def checked_shards(text: str | None) -> str | None:
    if text is not None and text != AUTOMATIC:
        found = SHARDS.fullmatch(text)
        if not found or not int(found[1]) <= int(found[2]) < int(found[3]) <= MOST_SHARDS:
            raise ValueError("not a range of shards")
    return text


Numbers = Annotated[str, AfterValidator(checked_numbers)]
Pairs = Annotated[str, AfterValidator(checked_pairs)]
CommandPlace = Annotated[str, AfterValidator(checked_place)]
ReaderRoles = Annotated[str | None, AfterValidator(checked_reader_roles)]
Shards = Annotated[str | None, AfterValidator(checked_shards)]


def numbers_in(text: str) -> frozenset[str]:
    return frozenset(listed(text))


def pairs_in(text: str) -> Mapping[str, str]:
    """Of each server its role or channel."""
    pairs = {}
    for item in listed(text):
        server, place = item.split(":")
        pairs[server] = place
    return pairs


def shards_in(text: str | None) -> ShardRange | Literal["auto"] | None:
    if text is None:
        return None
    if text == AUTOMATIC:
        return AUTOMATIC
    first, last, count = re.split("[-/]", text)
    return ShardRange(first=int(first), last=int(last), count=int(count))


def guilds_in(text: str) -> tuple[str, ...]:
    """The servers where commands are registered; none: everywhere."""
    return () if text.strip() == EVERYWHERE else tuple(listed(text))


def reader_roles_in(text: str | None) -> tuple[ReaderRole, ...]:
    roles = []
    for item in listed(text or ""):
        role, said = item.split(":")
        tier = int(said[-1]) if said.startswith("tier") else None
        levels = () if tier else (said,)
        profile = ReaderProfile(hardware_tier=tier, proficiency_levels=levels)
        roles.append(ReaderRole(role_id=role, profile=profile))
    return tuple(roles)
