"""Which servers or workspaces of a platform are served: trust on first use, or what the settings
name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.steward import Finding
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import KnownTenant, Trust
from rag_core.errors import InvalidQuestion, StorageError
from rag_core.ports import TenantStore

log = logging.getLogger(__name__)

LOOKUP_SECONDS = 1.0
"""A decision that takes longer to read is the one that was read last: interactions wait for us."""
NAMED = 5
"""Servers that a finding names; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the settings name: the variable, and the ids in it."""

    variable: str
    ids: Collection[str] = ()

    def __bool__(self) -> bool:
        return bool(self.ids)


class Admissions:
    """Asks the database at each use, so that a decision holds at once and on every host.

    Where the settings name servers, they alone decide; the database then only notes who was met."""

    def __init__(self, store: TenantStore, *, platform: Platform, named: Named) -> None:
        self._store = store
        self._platform = platform
        self._named = named
        self._last: dict[TenantId, Trust] = {}
        """What was read last, for while the database is away."""

    @property
    def platform(self) -> Platform:
        return self._platform

    async def needs_first_use(self) -> bool:
        """Whether nobody has been trusted yet, and nobody is named."""
        return not self._named and not await self._store.has_decided(self._platform)

    async def trust_present(self, present: Mapping[TenantId, str]) -> None:
        """At the first start: whoever is there, by id and name, is allowed."""
        if not self._named and await self._store.trust_first(self._platform, present):
            about = {"platform": self._platform.value, "allowed": sorted(present)}
            log.warning("trusted on first use", extra=about)

    async def load(self) -> None:
        """Read every decision, so that each is known while the database is away."""
        for known in await self._store.all():
            if known.platform is self._platform:
                self._last[known.tenant] = known.trust

    async def meet(self, tenant: TenantId, name: str) -> bool:
        """Whether a server or workspace that just appeared is served; a new one waits."""
        await self.trust_present({tenant: name})
        trust = await self._store.meet(self._platform, tenant, name)
        if self._named:
            trust = await self._follow_settings(tenant, trust)
        is_new, self._last[tenant] = self._last.get(tenant) is not trust, trust
        if is_new and trust is Trust.WAITING:
            about = {"platform": self._platform.value, "id": tenant, "called": name}
            advice = self._advice(tenant)
            log.warning("not allowed yet, so not served", extra={**about, "advice": advice})
        return trust is Trust.ALLOWED

    async def vouch(self, tenant: TenantId, name: str) -> None:
        """The operator's own token stands for this one: it need not be allowed any more."""
        await self.trust_present({tenant: name})
        trust = await self._store.meet(self._platform, tenant, name)
        if trust is Trust.WAITING and not self._named:
            await self._store.decide(self._platform, tenant, Trust.ALLOWED)

    async def admits(self, tenant: TenantId) -> bool:
        """Whether this server or workspace is served. StorageError where that was never read."""
        return await self.trust_of(tenant) is Trust.ALLOWED

    async def trust_of(self, tenant: TenantId) -> Trust | None:
        """What holds for it; None where it was never met."""
        if self._named and tenant in self._named.ids:
            return Trust.ALLOWED
        trust = await self._stored(tenant)
        return Trust.WAITING if self._named and trust is not None else trust

    async def allowed(self) -> Sequence[TenantId]:
        """Every server or workspace that is served."""
        if self._named:
            return [TenantId(each) for each in sorted(self._named.ids)]
        return [
            known.tenant
            for known in await self._store.all()
            if known.platform is self._platform and known.trust is Trust.ALLOWED
        ]

    async def claim_notice(self, tenant: TenantId) -> bool:
        return await self._store.claim_notice(self._platform, tenant)

    async def release_notice(self, tenant: TenantId) -> None:
        await self._store.release_notice(self._platform, tenant)

    async def decide(self, tenant: TenantId, trust: Trust) -> KnownTenant:
        """The operator's decision; InvalidQuestion where the settings decide."""
        if self._named:
            raise InvalidQuestion(
                "id",
                f"{self._named.variable} decides who is served: change the ids there, and start"
                " again or send SIGHUP.",
            )
        await self._store.decide(self._platform, tenant, trust)
        self._last[tenant] = trust
        about = {"platform": self._platform.value, "id": tenant, "trust": trust.value}
        log.info("admission decided", extra=about)
        return next(known for known in await self.listed() if known.tenant == tenant)

    async def listed(self) -> Sequence[KnownTenant]:
        """Everybody who was met, with what holds now."""
        known = [each for each in await self._store.all() if each.platform is self._platform]
        return [replace(each, trust=self._by_settings(each)) for each in known]

    async def findings(self) -> Sequence[Finding]:
        """For the operator: who waits."""
        waiting = [each for each in await self.listed() if each.trust is Trust.WAITING]
        if not waiting:
            return []
        shown = ", ".join(f"{each.name} ({each.tenant})".strip() for each in waiting[:NAMED])
        more = f" and {len(waiting) - NAMED} more" if len(waiting) > NAMED else ""
        return [
            Finding(
                name=f"{self._platform.value} admissions",
                in_place=True,
                is_warning=True,
                detail=f"{shown}{more}: waiting to be allowed; nobody is answered there.",
                advice=self._advice(waiting[0].tenant),
            )
        ]

    async def _stored(self, tenant: TenantId) -> Trust | None:
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                trust = await self._store.trust_of(self._platform, tenant)
        except (StorageError, TimeoutError) as error:
            if tenant not in self._last:
                raise StorageError("It could not be read who is served.") from error
            return self._last[tenant]
        if trust is not None:
            self._last[tenant] = trust
        return trust

    async def _follow_settings(self, tenant: TenantId, trust: Trust) -> Trust:
        """What the settings decide is noted, so that it holds on where they name nobody later."""
        wanted = Trust.ALLOWED if tenant in self._named.ids else Trust.WAITING
        if trust is not wanted:
            await self._store.decide(self._platform, tenant, wanted)
        return wanted

    def _by_settings(self, known: KnownTenant) -> Trust:
        if not self._named:
            return known.trust
        return Trust.ALLOWED if known.tenant in self._named.ids else Trust.WAITING

    def _advice(self, tenant: str) -> str:
        if self._named:
            return f"Add {tenant} to {self._named.variable}, or remove the bot there."
        return f"Allow it with `footnote servers allow {tenant}`, or remove the bot there."
