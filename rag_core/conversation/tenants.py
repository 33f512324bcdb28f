"""A server or workspace that the bot has met, and whether it is served."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from rag_core.conversation.key import Platform, TenantId


class Trust(StrEnum):
    """What was decided about a server or workspace."""

    ALLOWED = "allowed"
    DENIED = "denied"
    WAITING = "waiting"
    """Nobody has decided yet; it is not served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTenant:
    """A server or workspace with the decision about it."""

    platform: Platform
    tenant: TenantId
    name: str
    """How people call it; empty where nobody has told us."""
    trust: Trust
    since: datetime
    """When this was decided, or when it was first met."""
