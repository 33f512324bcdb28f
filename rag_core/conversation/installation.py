"""The app in one server or workspace, with the tokens that open it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from rag_core.conversation.key import Platform, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Who let the app in, as the app knows itself there; the tokens never show."""

    platform: Platform
    tenant: TenantId
    name: str
    """How people call the workspace."""
    facts: Mapping[str, str]
    """What is no secret, such as the bot's own ids."""
    tokens: Mapping[str, str] = field(repr=False)
    installed_at: datetime
    expires_at: datetime | None = None
    """When the token must have been renewed; None: it holds until it is revoked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """An installation whose tokens no key that we have opens."""

    tenant: TenantId
    name: str
