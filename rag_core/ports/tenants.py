"""Where it is kept which servers and workspaces are served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import KnownTenant, Trust


class TenantStore(Protocol):
    """Trust on first use: who is there first is allowed, everybody later waits for a decision.

    Several hosts share it: each step is one transaction."""

    async def has_decided(self, platform: Platform) -> bool:
        """Whether the first use is over on this platform."""
        ...

    async def trust_first(self, platform: Platform, present: Mapping[TenantId, str]) -> bool:
        """Allow these, by id and name, unless the first use is over; whether it was not.
        Nobody present: nothing changes."""
        ...

    async def meet(self, platform: Platform, tenant: TenantId, name: str) -> Trust:
        """Note the name, and tell what was decided; whoever is new waits."""
        ...

    async def trust_of(self, platform: Platform, tenant: TenantId) -> Trust | None:
        """None: never met."""
        ...

    async def decide(self, platform: Platform, tenant: TenantId, trust: Trust) -> None:
        """Ends the first use; the next refusal is told anew."""
        ...

    async def claim_notice(self, platform: Platform, tenant: TenantId) -> bool:
        """Whether nobody has told this tenant before that it is not served; then it is ours to
        tell."""
        ...

    async def release_notice(self, platform: Platform, tenant: TenantId) -> None:
        """It could not be told after all."""
        ...

    async def all(self) -> Sequence[KnownTenant]:
        """By platform and id."""
        ...
