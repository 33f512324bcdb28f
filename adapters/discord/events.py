"""A Discord message → the question it asks, a word on why it cannot be asked, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import discord

from adapters.discord.wording import USER, with_names, without_mention
from adapters.pastes import shortened
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import MAX_QUESTION, Question, is_invisible
from rag_core.desk.incoming import IncomingQuestion

DIRECT = TenantId("direct")
"""The tenant of every conversation that belongs to no server."""
NEW_THREAD = {"thread": "new"}
"""The address of an answer that makes a thread from its question."""
SHORTENED = "shortened"
ASKING_TYPES = (discord.MessageType.default, discord.MessageType.reply)
BARE_MENTION = "Hello!"
"""Who says no more than our name is greeted and told what to ask."""
ONLY_FILES = "I read only what is written in the message: please put the question in words."


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A question, and whether it was plainly meant for us or only stands in a thread."""

    question: IncomingQuestion
    addressed: bool
    in_own_thread: bool = False
    """In a thread that we made ourselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """A message that was meant for us but asks nothing that can be looked up."""

    channel_id: str
    message_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a message stands, and so where its answer belongs."""

    key: ConversationKey
    address: Mapping[str, str]
    is_thread: bool = False
    owner_id: int | None = None


def read(message: discord.Message, *, me: discord.abc.User, at: datetime) -> Heard | Unasked | None:
    """What a message means to us."""
    place = place_of(message)
    if place is None or not is_from_a_person(message):
        return None
    addressed = is_addressed(message, me)
    if not addressed and (not place.is_thread or is_for_somebody_else(message)):
        return None
    text = asked_text(message, me)
    if not text and message.attachments:
        return _unasked(message, ONLY_FILES) if addressed else None
    if not text and not addressed:
        return None
    return Heard(
        question=question_from(message, place, text or BARE_MENTION, at),
        addressed=addressed,
        in_own_thread=place.owner_id == me.id,
    )


def is_from_a_person(message: discord.Message) -> bool:
    """Never bots, webhooks or what Discord itself says, and so never ourselves."""
    return (
        message.type in ASKING_TYPES
        and not message.author.bot
        and message.webhook_id is None
        and message.application_id is None
    )


def is_addressed(message: discord.Message, me: discord.abc.User) -> bool:
    """Whether somebody plainly turned to us: in private, by name, by role or by a reply."""
    if isinstance(message.channel, discord.DMChannel):
        return True
    return names(message, me) or author_replied_to(message) == me.id


def names(message: discord.Message, me: discord.abc.User) -> bool:
    """`mentions` may be empty where the text names us all the same."""
    own_role = message.guild.self_role if message.guild is not None else None
    return (
        any(user.id == me.id for user in message.mentions)
        or any(int(found) == me.id for found in USER.findall(message.content))
        or (own_role is not None and own_role in message.role_mentions)
    )


def author_replied_to(message: discord.Message) -> int | None:
    resolved = message.reference.resolved if message.reference is not None else None
    return resolved.author.id if isinstance(resolved, discord.Message) else None


def is_for_somebody_else(message: discord.Message) -> bool:
    return bool(message.mentions or message.role_mentions or author_replied_to(message))


def place_of(message: discord.Message) -> Place | None:
    """Nothing where a channel is not known well enough to answer in it."""
    channel = message.channel
    here = str(channel.id)
    if isinstance(channel, discord.DMChannel):
        return Place(key=_key(DIRECT, here, here), address={})
    if isinstance(channel, discord.PartialMessageable) or message.guild is None:
        return None
    tenant = TenantId(str(message.guild.id))
    if isinstance(channel, discord.Thread):
        return Place(
            key=_key(tenant, str(channel.parent_id), here),
            address={},
            is_thread=True,
            owner_id=channel.owner_id,
        )
    if isinstance(channel, discord.TextChannel):
        return Place(key=_key(tenant, here, str(message.id)), address=NEW_THREAD)
    return Place(key=_key(tenant, here, here), address={})  # the chat of a voice channel


def asked_text(message: discord.Message, me: discord.abc.User) -> str:
    """What the message says, in words that mean the same outside Discord."""
    names: dict[int, str] = {user.id: user.display_name for user in message.mentions}
    names |= {role.id: role.name for role in message.role_mentions}
    names |= {channel.id: channel.name for channel in message.channel_mentions}
    text = without_mention(message.content, me.id)
    own_role = message.guild.self_role if message.guild is not None else None
    if own_role is not None:
        text = text.replace(own_role.mention, "").strip()
    words = with_names(text, names)
    return "" if all(is_invisible(character) for character in words) else words


def question_from(
    message: discord.Message, place: Place, text: str, at: datetime
) -> IncomingQuestion:
    asked = shortened(text)
    note = {SHORTENED: str(len(text))} if len(text) > MAX_QUESTION else {}
    return IncomingQuestion(
        key=place.key,
        message_id=str(message.id),
        asker_id=str(message.author.id),
        question=Question(message=asked),
        heard_at=at,
        position=f"{message.id:020d}",
        address={**place.address, **note},
    )


def _unasked(message: discord.Message, reason: str) -> Unasked:
    return Unasked(channel_id=str(message.channel.id), message_id=str(message.id), reason=reason)


def _key(tenant: TenantId, channel_id: str, thread_id: str) -> ConversationKey:
    return ConversationKey(
        platform=Platform.DISCORD, tenant=tenant, channel_id=channel_id, thread_id=thread_id
    )
