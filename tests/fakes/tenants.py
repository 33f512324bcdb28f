"""Servers and workspaces by what was decided about them, kept in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from adapters.admissions import Admissions, Named
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import KnownTenant, Trust
from rag_core.errors import StorageError

Key = tuple[Platform, TenantId]


class MemoryTenants:
    """Decisions that last as long as the test; held to the same contract as the real store."""

    def __init__(self) -> None:
        self.trust: dict[Key, Trust] = {}
        self.names: dict[Key, str] = {}
        self.told: set[Key] = set()
        self.decided: set[Platform] = set()
        self.is_away = False
        """Whether the database does not answer."""

    async def has_decided(self, platform: Platform) -> bool:
        self._check()
        return platform in self.decided

    async def trust_first(self, platform: Platform, present: Mapping[TenantId, str]) -> bool:
        self._check()
        if not present or platform in self.decided:
            return False
        self.decided.add(platform)
        for tenant, name in present.items():
            self.names[platform, tenant] = name
            self.trust[platform, tenant] = Trust.ALLOWED
        return True

    async def meet(self, platform: Platform, tenant: TenantId, name: str) -> Trust:
        self._check()
        self.names[platform, tenant] = name or self.names.get((platform, tenant), "")
        return self.trust.setdefault((platform, tenant), Trust.WAITING)

    async def trust_of(self, platform: Platform, tenant: TenantId) -> Trust | None:
        self._check()
        return self.trust.get((platform, tenant))

    async def decide(self, platform: Platform, tenant: TenantId, trust: Trust) -> None:
        self._check()
        self.decided.add(platform)
        self.trust[platform, tenant] = trust
        self.told.discard((platform, tenant))

    async def claim_notice(self, platform: Platform, tenant: TenantId) -> bool:
        self._check()
        key = (platform, tenant)
        if key not in self.trust or key in self.told:
            return False
        self.told.add(key)
        return True

    async def release_notice(self, platform: Platform, tenant: TenantId) -> None:
        self._check()
        self.told.discard((platform, tenant))

    async def all(self) -> Sequence[KnownTenant]:
        self._check()
        return [
            KnownTenant(
                platform=platform,
                tenant=tenant,
                name=self.names.get((platform, tenant), ""),
                trust=trust,
                since=datetime.now(UTC),
            )
            for (platform, tenant), trust in sorted(self.trust.items())
        ]

    def _check(self) -> None:
        if self.is_away:
            raise StorageError("The database does not answer.")


def trusting(platform: Platform, *tenants: str) -> MemoryTenants:
    """A store in which the operator has allowed these."""
    store = MemoryTenants()
    store.decided.add(platform)
    store.trust = {(platform, TenantId(tenant)): Trust.ALLOWED for tenant in tenants}
    return store


def discord_admissions(store: MemoryTenants | None = None, *named: str) -> Admissions:
    """Trust on first use on Discord, or these servers alone."""
    return admissions(Platform.DISCORD, store, Named(variable="DISCORD_SERVERS", ids=named))


def slack_admissions(store: MemoryTenants | None = None, *named: str) -> Admissions:
    """The same for Slack's workspaces."""
    return admissions(Platform.SLACK, store, Named(variable="SLACK_WORKSPACES", ids=named))


def admissions(platform: Platform, store: MemoryTenants | None, named: Named) -> Admissions:
    return Admissions(store or MemoryTenants(), platform=platform, named=named)
