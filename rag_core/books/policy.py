"""What holds in one place of a chat platform: its book, its tone, and who reads there."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from rag_core.conversation.key import Platform, TenantId

EVERYWHERE = ""
"""The channel id of a policy that holds in a whole server or workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A channel, a category of channels, or a whole server or workspace."""

    platform: Platform
    tenant: TenantId
    channel_id: str = EVERYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProfile:
    """What a reader has and knows: it filters what is found and words the answer."""

    hardware_tier: int | None = None
    proficiency_levels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPolicy:
    """How questions of one place are answered; None or empty: as the wider place says."""

    book_id: str | None = None
    modules: tuple[str, ...] = ()
    auto_answer: bool | None = None
    """Whether every question there is answered, without a mention."""
    hint_only: bool | None = None
    """Point to the section and ask a guiding question; do not give the solution."""
    tone: str | None = None
    released_at: datetime | None = None
    """Material with a later release date is not found; None: everything that is out today."""
    reader: ReaderProfile = field(default_factory=ReaderProfile)
