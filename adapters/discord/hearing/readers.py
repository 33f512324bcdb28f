"""What a member has and knows: said by themselves, or by their roles."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import discord

from adapters.discord.config import ReaderRole
from rag_core.books.policy import ReaderProfile
from rag_core.conversation.key import TenantId
from rag_core.ports import MarkerStore


class Readers:
    """Knows the profile of who asks; their own words count before their roles."""

    def __init__(self, roles: Sequence[ReaderRole], markers: MarkerStore) -> None:
        self._roles = roles
        self._markers = markers

    async def profile(self, user: discord.abc.User, tenant: TenantId) -> ReaderProfile | None:
        own = await self._own(str(user.id), tenant)
        whole = (own or ReaderProfile()).over(self._of_roles(roles_of(user)))
        return None if whole == ReaderProfile() else whole

    async def say(self, user_id: str, tenant: TenantId, profile: ReaderProfile | None) -> None:
        """Keep a member's own words; None: forget them."""
        said = "" if profile is None else json.dumps(
            {"tier": profile.hardware_tier, "levels": list(profile.proficiency_levels)}
        )  # fmt: skip
        await self._markers.set(_name(user_id, tenant), said)

    async def _own(self, user_id: str, tenant: TenantId) -> ReaderProfile | None:
        said = await self._markers.get(_name(user_id, tenant))
        if not said:
            return None
        read = json.loads(said)
        return ReaderProfile(hardware_tier=read["tier"], proficiency_levels=tuple(read["levels"]))

    def _of_roles(self, worn: Collection[str]) -> ReaderProfile:
        """Of several tiers the best, of several levels all."""
        said = [role.profile for role in self._roles if role.role_id in worn]
        tiers = [profile.hardware_tier for profile in said if profile.hardware_tier is not None]
        levels = {level for profile in said for level in profile.proficiency_levels}
        return ReaderProfile(
            hardware_tier=max(tiers, default=None), proficiency_levels=tuple(sorted(levels))
        )


def roles_of(user: discord.abc.User) -> frozenset[str]:
    if not isinstance(user, discord.Member):
        return frozenset()
    return frozenset(str(role.id) for role in user.roles)


def _name(user_id: str, tenant: TenantId) -> str:
    return f"reader:discord:{tenant}:{user_id}"
