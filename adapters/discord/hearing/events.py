"""A Discord message → the question it asks, a word on why it cannot be asked, or nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

import discord

from adapters.discord.hearing.channels import Spot, spot_in
from adapters.discord.hearing.files import ReadFiles
from adapters.discord.wording import CALLS, USER, with_names, without_mention
from adapters.pastes import shortened
from rag_core.agent.smalltalk import SmallTalk, small_talk
from rag_core.conversation.question import MAX_QUESTION, Question, shows_nothing
from rag_core.desk.incoming import IncomingQuestion

SHORTENED = "shortened"
ASKING_TYPES = (discord.MessageType.default, discord.MessageType.reply)
BARE_MENTION = "Hello!"
"""Who says no more than our name is greeted and told what to ask."""
ONLY_FILES = (
    "I read only what is written in the message and in small text files, no pictures: please put"
    " the question in words."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Whom we listen to beside the members of a server."""

    direct_messages: bool = True
    allowed_bots: Collection[str] = field(default_factory=frozenset)
    """Ids of bots and webhooks that may ask as people do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a message asks, and whether it was plainly meant for us or only stands near."""

    question: IncomingQuestion
    spot: Spot
    addressed: bool
    in_own_thread: bool = False
    """In a thread that we made ourselves."""
    begins_post: bool = False
    """The first message of a forum post."""
    by_owner: bool = False
    """By who began this thread or post."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """A message that was meant for us but asks nothing that can be looked up."""

    channel_id: str
    message_id: str
    reason: str


def read(
    message: discord.Message,
    *,
    me: discord.abc.User,
    at: datetime,
    rules: Rules,
    files: ReadFiles | None = None,
) -> Heard | Unasked | None:
    """What a message means to us, with what its text files say once they were fetched."""
    spot = spot_of(message)
    if spot is None or not may_ask(message, me, rules):
        return None
    addressed = is_addressed(message, me)
    text = asked_text(message, me)
    if not addressed and (is_for_somebody_else(message) or is_only_thanks(text)):
        return None
    pasted = files.text if files is not None else ""
    whole = "\n\n".join(part for part in (post_title(message), text, pasted) if part)
    if not whole and message.attachments:
        return unasked(message, ONLY_FILES) if addressed else None
    if not whole and not addressed:
        return None
    return Heard(
        question=question_from(message, spot, whole or BARE_MENTION, at, files),
        spot=spot,
        addressed=addressed,
        in_own_thread=spot.owner_id == me.id,
        begins_post=begins_post(message),
        by_owner=spot.owner_id == message.author.id,
    )


def may_ask(message: discord.Message, me: discord.abc.User, rules: Rules) -> bool:
    """People may; never ourselves, nor what Discord itself says; bots and webhooks that are on
    the list."""
    if message.type not in ASKING_TYPES or message.author.id == me.id:
        return False
    if isinstance(message.channel, discord.DMChannel) and not rules.direct_messages:
        return False
    foreign = message.webhook_id or (message.author.id if message.author.bot else None)
    if foreign is not None:
        return str(foreign) in rules.allowed_bots
    return message.application_id is None


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
    """`mentions` may be empty where the text names somebody all the same."""
    named = message.mentions or message.role_mentions or CALLS.search(message.content)
    return bool(named or author_replied_to(message))


def is_only_thanks(text: str) -> bool:
    return small_talk(text) is SmallTalk.THANKS


def spot_of(message: discord.Message) -> Spot | None:
    """Nothing where a channel is not known well enough to answer in it."""
    if isinstance(message.channel, discord.PartialMessageable):
        return None
    return spot_in(message.channel)


def begins_post(message: discord.Message) -> bool:
    """The first message of a forum post has the id of the post."""
    channel = message.channel
    return (
        isinstance(channel, discord.Thread)
        and isinstance(channel.parent, discord.ForumChannel)
        and channel.id == message.id
    )


def post_title(message: discord.Message) -> str:
    """What a forum post is called, and its tags: often the question stands there alone."""
    channel = message.channel
    if not isinstance(channel, discord.Thread) or not begins_post(message):
        return ""
    title = " ".join(channel.name.split())
    if title.casefold() in message.content.casefold():
        title = ""
    tags = ", ".join(tag.name for tag in channel.applied_tags)
    return f"{title} (tags: {tags})".strip() if tags else title


def asked_text(message: discord.Message, me: discord.abc.User) -> str:
    """What the message says, in words that mean the same outside Discord."""
    names: dict[int, str] = {user.id: user.display_name for user in message.mentions}
    names |= {role.id: role.name for role in message.role_mentions}
    names |= {channel.id: channel.name for channel in message.channel_mentions}
    text = without_mention(message.content or forwarded(message), me.id)
    own_role = message.guild.self_role if message.guild is not None else None
    if own_role is not None:
        text = text.replace(own_role.mention, "").strip()
    words = with_names(text, names)
    return "" if shows_nothing(words) else words


def forwarded(message: discord.Message) -> str:
    """What somebody hands on says what its writer wrote; nothing else stands in such a message."""
    return "\n\n".join(said.content for said in message.message_snapshots if said.content)


def question_from(
    message: discord.Message, spot: Spot, text: str, at: datetime, files: ReadFiles | None
) -> IncomingQuestion:
    asked = shortened(text)
    notes = {SHORTENED: str(len(text))} if len(text) > MAX_QUESTION else {}
    locale = message.guild.preferred_locale.value if message.guild is not None else "en"
    return IncomingQuestion(
        key=spot.key_for(message.id),
        message_id=str(message.id),
        asker_id=str(message.author.id),
        question=Question(message=asked),
        heard_at=at,
        position=f"{message.id:020d}",
        address={**spot.address, **notes, **(files.notes if files is not None else {})},
        category_id=spot.category_id,
        locale=locale,
    )


def unasked(message: discord.Message, reason: str) -> Unasked:
    return Unasked(channel_id=str(message.channel.id), message_id=str(message.id), reason=reason)
