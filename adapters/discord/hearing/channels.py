"""Where something happens on Discord: what decides the books, and where an answer belongs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import discord

from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.incoming import MessageIdentity

DIRECT = TenantId("direct")
"""The tenant of every conversation that belongs to no server."""
NEW_THREAD = {"thread": "new"}
"""The address of an answer that makes a thread from its question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One channel, thread or direct conversation."""

    tenant: TenantId
    reads: str
    """The channel that decides which books are read: of a thread, the one it belongs to."""
    writes: str
    """The channel or thread itself."""
    category_id: str = ""
    is_thread: bool = False
    """Whether what is said here belongs together."""
    is_post: bool = False
    """Whether this thread is a post of a forum."""
    begins_threads: bool = False
    """Whether an answer makes a thread from its question."""
    owner_id: int | None = None
    address: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_direct(self) -> bool:
        return self.tenant == DIRECT

    @property
    def key(self) -> ConversationKey:
        """Of the conversation that is held in this very channel or thread."""
        return ConversationKey(
            platform=Platform.DISCORD,
            tenant=self.tenant,
            channel_id=self.reads,
            thread_id=self.writes,
        )

    def key_for(self, message_id: int | str) -> ConversationKey:
        return replace(self.key, thread_id=str(message_id)) if self.begins_threads else self.key

    def identity_of(self, message_id: int | str) -> MessageIdentity:
        return MessageIdentity(
            platform=Platform.DISCORD.value,
            tenant=self.tenant,
            channel_id=self.reads,
            message_id=str(message_id),
        )


def spot_in(channel: Any) -> Spot | None:
    """The spot of a channel; nothing for kinds that are not written in."""
    here = str(channel.id)
    if isinstance(channel, discord.DMChannel):
        return Spot(tenant=DIRECT, reads=here, writes=here, is_thread=True)
    guild = getattr(channel, "guild", None)
    if guild is None:
        return None
    tenant = TenantId(str(guild.id))
    if isinstance(channel, discord.Thread):
        parent = channel.parent
        return Spot(
            tenant=tenant,
            reads=str(channel.parent_id),
            writes=here,
            category_id=category_of(parent),
            is_thread=True,
            is_post=isinstance(parent, discord.ForumChannel),
            owner_id=channel.owner_id,
        )
    threads = isinstance(channel, discord.TextChannel)
    return Spot(  # what begins no threads is the chat of a voice channel
        tenant=tenant,
        reads=here,
        writes=here,
        category_id=category_of(channel),
        begins_threads=threads,
        address=NEW_THREAD if threads else {},
    )


def category_of(channel: Any) -> str:
    category_id = getattr(channel, "category_id", None)
    return str(category_id) if category_id else ""
