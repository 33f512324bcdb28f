"""Installations kept in memory, as the database keeps them."""

from __future__ import annotations

from datetime import datetime

from rag_core.conversation.installation import Installation, Unreadable
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import StorageError


class MemoryInstallations:
    """What several hosts share."""

    def __init__(self) -> None:
        self.kept: dict[TenantId, Installation | Unreadable] = {}
        self.used: set[str] = set()
        self.failing = 0

    async def save(self, installation: Installation) -> None:
        self._work()
        self.kept[installation.tenant] = installation

    async def get(self, platform: Platform, tenant: TenantId) -> Installation | None:
        self._work()
        found = self.kept.get(tenant)
        return found if isinstance(found, Installation) else None

    async def all(self, platform: Platform) -> list[Installation | Unreadable]:
        self._work()
        return list(self.kept.values())

    async def remove(self, platform: Platform, tenant: TenantId) -> bool:
        self._work()
        return self.kept.pop(tenant, None) is not None

    async def use_once(self, ticket: str, *, until: datetime) -> bool:
        self._work()
        is_first = ticket not in self.used
        self.used.add(ticket)
        return is_first

    def _work(self) -> None:
        if self.failing:
            self.failing -= 1
            raise StorageError("The database cannot be used.")
