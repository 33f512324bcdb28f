"""What a place's policy and a reader's profile allow of what an asker asked for."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from rag_core.books.policy import ChannelPolicy, ReaderProfile
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.query import Filters, Proficiency


def reader_of(policy: ChannelPolicy, own: ReaderProfile | None) -> ReaderProfile:
    """The asker's own profile, and where it says nothing, the one that holds there."""
    return policy.reader if own is None else own.over(policy.reader)


def bounded(
    asked: Filters, policy: ChannelPolicy, *, reader: ReaderProfile | None, at: datetime
) -> Filters:
    """The asker's conditions within what the place allows; none of them can be widened later.

    Without a date in the policy, what is out at this moment is found and nothing later."""
    profile = reader_of(policy, reader)
    return replace(
        asked,
        modules=modules_within(asked.module, policy.modules),
        hardware_tier=lower_of(asked.hardware_tier, profile.hardware_tier),
        proficiency_levels=levels_within(asked.proficiency_levels, profile.proficiency_levels),
        released_at=policy.released_at or at,
    )


def modules_within(asked: str | None, allowed: tuple[str, ...]) -> tuple[str, ...]:
    if asked is not None and allowed and asked not in allowed:
        known = ", ".join(allowed)
        raise InvalidQuestion(
            "module", f"There is no module {asked!r} here. Known modules: {known}.", allowed=known
        )
    return allowed


def lower_of(asked: int | None, allowed: int | None) -> int | None:
    if asked is None or allowed is None:
        return allowed if asked is None else asked
    return min(asked, allowed)


def levels_within(
    asked: tuple[Proficiency, ...], allowed: tuple[str, ...]
) -> tuple[Proficiency, ...]:
    levels = tuple(Proficiency(level) for level in allowed)
    if not asked or not levels:
        return asked or levels
    both = tuple(level for level in asked if level in levels)
    if not both:
        known = ", ".join(levels)
        raise InvalidQuestion(
            "proficiency_levels",
            f"Here only material of these levels is read: {known}.",
            allowed=known,
        )
    return both
