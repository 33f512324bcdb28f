"""A Discord message → the question it asks, a word on why it cannot be asked, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import discord

from adapters.discord.hearing.channels import Spot, spot_in
from adapters.discord.hearing.files import ReadFiles
from adapters.discord.wording import CALLS, USER, with_names, without_mention
from adapters.pastes import fit_context
from adapters.text_files import ask_with_files
from rag_core.agent.requests import ANSWER_THIS
from rag_core.conversation.context import ContextItem, ContextKind
from rag_core.conversation.question import Question, shows_nothing
from rag_core.desk.incoming import IncomingQuestion

ASKING_TYPES = (discord.MessageType.default, discord.MessageType.reply)
BARE_MENTION = "Hello!"
"""Who says no more than our name is greeted and told what to ask."""
ONLY_FILES = (
    "I read only what is written in the message and in small text files, no pictures: please put"
    " the question in words."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is listened to beside the channels of a server."""

    direct_messages: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a message asks, and what else is known of it."""

    question: IncomingQuestion
    spot: Spot
    text: str
    """The words as they were written, nothing for a bare mention."""
    addressed: bool
    is_empty: bool = False
    in_own_thread: bool = False
    """In a thread that we made ourselves."""
    begins_post: bool = False
    """The first message of a forum post."""
    by_owner: bool = False
    """By who began this thread or post."""
    is_for_somebody_else: bool = False
    """It names another person, or replies to one."""
    bot_id: str = ""
    """Of the bot or webhook that wrote it; empty for people."""
    replies_to: str = ""
    """The message that it replies to."""


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
    talk: Sequence[ContextItem] = (),
) -> Heard | Unasked | None:
    """What a message means to us, with what its text files and its thread say once they were
    read."""
    spot = spot_of(message)
    if spot is None or not may_ask(message, me, rules):
        return None
    addressed = is_addressed(message, me)
    text = asked_text(message, me)
    whole = "\n\n".join(part for part in (post_title(message), text) if part)
    beside = [*replied_to(message, me), *talk]
    is_empty = not (whole or (files is not None and files.texts))
    if is_empty and not beside and message.attachments:
        is_person = bot_behind(message) is None
        return unasked(message, ONLY_FILES) if addressed and is_person else None
    return Heard(
        question=question_from(message, spot, whole, at, files or ReadFiles(), beside),
        spot=spot,
        text=whole,
        addressed=addressed,
        is_empty=is_empty,
        in_own_thread=spot.owner_id == me.id,
        begins_post=begins_post(message),
        by_owner=spot.owner_id == message.author.id,
        is_for_somebody_else=not addressed and is_for_somebody_else(message),
        bot_id=str(bot_behind(message) or ""),
        replies_to=str(message.reference.message_id or "") if message.reference else "",
    )


def may_ask(message: discord.Message, me: discord.abc.User, rules: Rules) -> bool:
    """People, bots and webhooks may; never ourselves, nor what Discord itself says."""
    if message.type not in ASKING_TYPES or message.author.id == me.id:
        return False
    if isinstance(message.channel, discord.DMChannel) and not rules.direct_messages:
        return False
    return bot_behind(message) is not None or message.application_id is None


def bot_behind(message: discord.Message) -> int | None:
    """The bot or webhook that wrote a message; nothing for a person."""
    return message.webhook_id or (message.author.id if message.author.bot else None)


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


def replied_to(message: discord.Message, me: discord.abc.User) -> list[ContextItem]:
    """The message of another that this one replies to; our own are in the thread's history."""
    resolved = message.reference.resolved if message.reference is not None else None
    if not isinstance(resolved, discord.Message) or resolved.author.id == me.id:
        return []
    return said_by(resolved, me, ContextKind.REPLY)


def said_by(message: discord.Message, me: discord.abc.User, kind: ContextKind) -> list[ContextItem]:
    """A message as context; nothing where it says nothing."""
    text = asked_text(message, me)
    return [ContextItem(kind=kind, text=text, author=str(message.author.id))] if text else []


def is_for_somebody_else(message: discord.Message) -> bool:
    """`mentions` may be empty where the text names somebody all the same. Who replies to a
    message of their own goes on talking to whom they talked to."""
    named = message.mentions or message.role_mentions or CALLS.search(message.content)
    return bool(named) or author_replied_to(message) not in {None, message.author.id}


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
    message: discord.Message,
    spot: Spot,
    words: str,
    at: datetime,
    files: ReadFiles,
    beside: Sequence[ContextItem],
) -> IncomingQuestion:
    split, attached = ask_with_files(words, files.texts)
    asked = split.question or (ANSWER_THIS if beside else BARE_MENTION)
    locale = message.guild.preferred_locale.value if message.guild is not None else "en"
    return IncomingQuestion(
        key=spot.key_for(message.id),
        message_id=str(message.id),
        asker_id=str(message.author.id),
        question=Question(message=asked, context=fit_context([*beside, *split.context, *attached])),
        heard_at=at,
        position=f"{message.id:020d}",
        address={**spot.address, **files.notes},
        original_length=split.original_length,
        category_id=spot.category_id,
        locale=locale,
    )


def unasked(message: discord.Message, reason: str) -> Unasked:
    return Unasked(channel_id=str(message.channel.id), message_id=str(message.id), reason=reason)
