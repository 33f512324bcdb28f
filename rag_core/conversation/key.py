"""The name of one chat thread, the same on every platform."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

TenantId = NewType("TenantId", str)
"""A guild, a workspace, or `local`."""

LOCAL_TENANT = TenantId("local")


class Platform(StrEnum):
    """Where people come in."""

    DISCORD = "discord"
    SLACK = "slack"
    WEB = "web"
    CLI = "cli"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationKey:
    """One chat thread, named the same way on every platform."""

    platform: Platform
    tenant: TenantId
    channel_id: str
    thread_id: str

    def __post_init__(self) -> None:
        for name in ("tenant", "channel_id", "thread_id"):
            if not getattr(self, name):
                raise ValueError(f"a conversation key needs a {name}")

    def __str__(self) -> str:
        return f"{self.platform}:{self.tenant}:{self.channel_id}:{self.thread_id}"
