"""Which books are closed to a server or workspace."""

from __future__ import annotations

from collections.abc import Collection

from bot.services import Services
from rag_core.conversation.key import Platform, TenantId


async def closed_to(services: Services, platform: Platform, tenant: TenantId) -> Collection[str]:
    """Closed books that the operator has not let this server or workspace read."""
    closed = services.settings.books_closed
    if not closed:
        return closed
    said = await services.stores.policies.all()
    return closed - {
        book_id
        for place, policy in said.items()
        if place.platform is platform and tenant in (place.tenant, place.channel_id)
        for book_id in policy.books
    }
