"""Slack's events → questions, changes to questions, or nothing; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.pastes import split_message
from adapters.slack.hearing.mentions import begins_with_somebody_else, mentions, plain_text
from adapters.slack.hearing.shapes import parts
from adapters.slack.installing.workspace import Workspace
from rag_core.conversation.context import ContextItem, ContextKind
from rag_core.conversation.key import ConversationKey, Platform
from rag_core.conversation.question import Question, shows_nothing
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity

SAID_BY_PEOPLE = frozenset({"", "file_share", "me_message", "thread_broadcast"})
"""Every other subtype is an echo, an edit, a notice or another program's message."""
SAID_BY_BOTS = SAID_BY_PEOPLE | {"bot_message"}
SLACKBOT = "USLACKBOT"
BARE_MENTION = "Hello!"
"""Who says no more than the bot's name is greeted and told what to ask."""
IMAGES, CHANNEL_TYPE = "images", "channel_type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message, and whether it is surely meant for the bot."""

    question: IncomingQuestion
    addressed: bool
    """A mention or a direct message; otherwise it depends on where it stands."""
    named: bool = False
    """The bot was mentioned, or only its private channel was written in."""
    in_thread: bool = False
    text: str = ""
    """The words as they were written, nothing for a bare mention."""
    files: tuple[Mapping[str, Any], ...] = ()
    channel_type: str = ""
    bot_ids: frozenset[str] = frozenset()
    """By what names another program that said this is known; empty for people."""
    is_direct: bool = False
    is_for_somebody_else: bool = False
    """It begins with another person's name."""
    shared: tuple[ContextItem, ...] = ()
    """Messages of other places that it quotes."""

    @property
    def from_bot(self) -> bool:
        return bool(self.bot_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """Somebody changed what they had written."""

    question: IncomingQuestion
    text: str = ""
    """The words as they were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A message is gone, or is only the grave above its replies."""

    identity: MessageIdentity


def heard_in(
    body: Mapping[str, Any], workspace: Workspace, *, heard_at: datetime
) -> Heard | Edited | Deleted | None:
    """What was said, changed or deleted in this event, unless it certainly does not matter.

    A mention comes as `app_mention` and as `message`, under two event ids: what they share, and
    what makes them one question, is the message's own timestamp in its channel."""
    event = body.get("event")
    if not isinstance(event, Mapping):
        return None
    match word(event, "subtype"):
        case "message_changed":
            return changed(event, workspace, heard_at=heard_at)
        case "message_deleted":
            return deleted(event, workspace, word(event, "deleted_ts"))
        case _:
            return said(event, workspace, heard_at=heard_at)


def said(event: Mapping[str, Any], workspace: Workspace, *, heard_at: datetime) -> Heard | None:
    """A message of a person or of another program; never our own, no echoes, no notices."""
    bot_ids = bots_in(event)
    if not is_said(event, workspace, SAID_BY_BOTS if bot_ids else SAID_BY_PEOPLE):
        return None
    text = word(event, "text")
    named = word(event, "type") == "app_mention" or mentions(text, workspace.bot_user_id)
    words = asked(text, workspace)
    return Heard(
        question=question_of(event, words, workspace, heard_at=heard_at),
        addressed=named or is_direct(event),
        named=named,
        in_thread=word(event, "thread_ts") not in {"", word(event, "ts")},
        text=words,
        files=tuple(parts(event, "files")),
        channel_type=word(event, "channel_type"),
        bot_ids=bot_ids,
        is_direct=is_direct(event),
        is_for_somebody_else=begins_with_somebody_else(text, workspace.bot_user_id),
        shared=shared_in(event, workspace),
    )


def is_direct(event: Mapping[str, Any]) -> bool:
    """Where an event does not say the kind of its channel, the channel's id does."""
    kind = word(event, CHANNEL_TYPE)
    return kind == "im" or (not kind and word(event, "channel").startswith("D"))


def is_said(event: Mapping[str, Any], workspace: Workspace, subtypes: frozenset[str]) -> bool:
    user = word(event, "user")
    return (
        word(event, "type") in {"app_mention", "message"}
        and word(event, "subtype") in subtypes
        and not event.get("hidden")
        and user not in {SLACKBOT, workspace.bot_user_id}
        and (bool(user) or "bot_message" in subtypes)
        and bool(word(event, "ts"))
        and bool(word(event, "channel"))
        and (workspace.bot_id == "" or word(event, "bot_id") != workspace.bot_id)
    )


def bots_in(event: Mapping[str, Any]) -> frozenset[str]:
    """The ids of the program that wrote a message; empty for a person."""
    if not (event.get("bot_id") or event.get("bot_profile")) and (
        word(event, "subtype") != "bot_message"
    ):
        return frozenset()
    profile = event.get("bot_profile")
    names = [word(event, name) for name in ("bot_id", "app_id", "user")]
    names += [word(profile, "id"), word(profile, "app_id")] if isinstance(profile, Mapping) else []
    return frozenset(name for name in names if name) or frozenset({"unknown"})


def changed(
    event: Mapping[str, Any], workspace: Workspace, *, heard_at: datetime
) -> Edited | Deleted | None:
    """An edit by a person. Unfurled links and new replies come as the same event, and a deleted
    message that has replies comes as one whose text is a grave."""
    after, before = event.get("message"), event.get("previous_message")
    if not isinstance(after, Mapping):
        return None
    if word(after, "subtype") == "tombstone":
        return deleted(event, workspace, word(after, "ts"))
    if isinstance(before, Mapping):
        if word(after, "text") == word(before, "text"):
            return None
    elif not after.get("edited"):  # what it said before was not told
        return None
    place = {name: word(event, name) for name in ("channel", CHANNEL_TYPE)}
    heard = said({**after, **place, "type": "message"}, workspace, heard_at=heard_at)
    if heard is None or heard.from_bot:
        return None
    return Edited(question=heard.question, text=heard.text)


def deleted(event: Mapping[str, Any], workspace: Workspace, ts: str) -> Deleted | None:
    channel = word(event, "channel")
    if not ts or not channel:
        return None
    identity = MessageIdentity(
        platform=Platform.SLACK.value, tenant=workspace.team_id, channel_id=channel, message_id=ts
    )
    return Deleted(identity=identity)


def question_of(
    event: Mapping[str, Any], words: str, workspace: Workspace, *, heard_at: datetime
) -> IncomingQuestion:
    ts, split = word(event, "ts"), split_message(words)
    return IncomingQuestion(
        key=ConversationKey(
            platform=Platform.SLACK,
            tenant=workspace.team_id,
            channel_id=word(event, "channel"),
            thread_id=word(event, "thread_ts") or ts,
        ),
        message_id=ts,
        asker_id=word(event, "user") or word(event, "bot_id") or "unknown",
        question=Question(message=split.question or BARE_MENTION, context=split.context),
        heard_at=heard_at,
        position=ts,
        original_length=split.original_length,
    )


def word(event: Mapping[str, Any], name: str) -> str:
    """A field that is text; nothing where it is missing or something else."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def asked(text: str, workspace: Workspace) -> str:
    """The words of a message; nothing where it has only characters that do not show."""
    words = plain_text(text, workspace.bot_user_id)
    return "" if shows_nothing(words) else words


def talk_of(messages: Sequence[Mapping[str, Any]], workspace: Workspace) -> list[ContextItem]:
    """What people said in a thread, an item for each message."""
    said = [
        (word(message, "user"), asked(word(message, "text"), workspace))
        for message in messages
        if word(message, "user") != workspace.bot_user_id
    ]
    return [
        ContextItem(kind=ContextKind.THREAD, text=text, author=author)
        for author, text in said
        if text
    ]


def shared_in(event: Mapping[str, Any], workspace: Workspace) -> tuple[ContextItem, ...]:
    """The messages that somebody shares with a message of their own."""
    said = [
        (word(part, "author_name"), asked(word(part, "text"), workspace))
        for part in parts(event, "attachments")
        if part.get("is_share") or part.get("is_msg_unfurl")
    ]
    return tuple(
        ContextItem(kind=ContextKind.REPLY, text=text, author=author)
        for author, text in said
        if text
    )
