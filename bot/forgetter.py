"""Forgets people and places in the database and in the memory of this process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime

from rag_core.conversation.key import Platform, TenantId
from rag_core.ports import ForgettingStore

OURS = ("rag_core.", "adapters.", "bot.")

ForgetsPerson = Callable[[str | None], None]
"""Drops what a part of the house remembers of one person; None: of everybody."""


class Forgetter:
    """A ForgettingStore that also clears what was remembered to save work."""

    def __init__(self, store: ForgettingStore) -> None:
        self._store = store
        self._memories: list[ForgetsPerson] = [clear_function_caches]

    def add(self, memory: ForgetsPerson) -> None:
        self._memories.append(memory)

    async def person(self, *, platform: Platform, asker_id: str) -> int:
        count = await self._store.person(platform=platform, asker_id=asker_id)
        self._clear(asker_id)
        return count

    async def tenant(self, *, platform: Platform, tenant: TenantId) -> int:
        count = await self._store.tenant(platform=platform, tenant=tenant)
        self._clear(None)
        return count

    async def older_than(self, moment: datetime) -> int:
        count = await self._store.older_than(moment)
        if count:
            self._clear(None)
        return count

    def _clear(self, asker_id: str | None) -> None:
        for forget in self._memories:
            forget(asker_id)


def clear_function_caches(asker_id: str | None) -> None:
    """Empty every `functools.cache` of ours: their keys are what people asked and were answered."""
    for name, module in list(sys.modules.items()):
        if name.startswith(OURS):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
