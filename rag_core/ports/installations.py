"""Where the app's installations are kept, with the tokens that open them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from rag_core.conversation.installation import Installation, Unreadable
from rag_core.conversation.key import Platform, TenantId


class InstallationStore(Protocol):
    """Where the app is installed, on platforms where each workspace has tokens of its own."""

    async def save(self, installation: Installation) -> None:
        """Insert or replace."""
        ...

    async def get(self, platform: Platform, tenant: TenantId) -> Installation | None: ...

    async def all(self, platform: Platform) -> Sequence[Installation | Unreadable]: ...

    async def remove(self, platform: Platform, tenant: TenantId) -> bool:
        """Whether there was one; when this returns, the tokens are gone from the disk too."""
        ...

    async def use_once(self, ticket: str, *, until: datetime) -> bool:
        """Whether nobody has used this ticket before; it is remembered until then."""
        ...
