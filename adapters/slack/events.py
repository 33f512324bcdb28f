"""Slack's events → questions, or nothing; pure functions over what Slack sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.pastes import shortened
from adapters.slack.mentions import (
    begins_with_somebody_else,
    is_only_thanks,
    mentions,
    plain_text,
)
from adapters.slack.workspace import Workspace
from rag_core.conversation.key import ConversationKey, Platform
from rag_core.conversation.question import MAX_QUESTION, Question, is_invisible
from rag_core.desk.incoming import IncomingQuestion

SAID_BY_PEOPLE = frozenset({"", "file_share", "me_message", "thread_broadcast"})
"""Every other subtype is an echo, an edit, a notice or another program's message."""
SLACKBOT = "USLACKBOT"
BARE_MENTION = "Hello!"
"""Who says no more than the bot's name is greeted and told what to ask."""
SHORTENED = "shortened"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message of a person, and whether it is surely meant for the bot."""

    question: IncomingQuestion
    addressed: bool
    """A mention or a direct message; otherwise it counts only in a thread of the bot's own."""


def heard_in(body: Mapping[str, Any], workspace: Workspace, *, heard_at: datetime) -> Heard | None:
    """What a person said in this event, unless it is certainly not for the bot.

    A mention comes as `app_mention` and as `message`, under two event ids: what they share, and
    what makes them one question, is the message's own timestamp in its channel."""
    event = body.get("event")
    if not isinstance(event, Mapping) or not is_said_by_a_person(event, workspace):
        return None
    text = word(event, "text")
    addressed = (
        word(event, "type") == "app_mention"
        or word(event, "channel_type") == "im"
        or mentions(text, workspace.bot_user_id)
    )
    if not addressed and not may_be_a_follow_up(event, text, workspace):
        return None
    return Heard(
        question=question_of(event, text, workspace, heard_at=heard_at), addressed=addressed
    )


def is_said_by_a_person(event: Mapping[str, Any], workspace: Workspace) -> bool:
    """People only: no bot, not even our own, no edits, unfurls or notices."""
    user = word(event, "user")
    return (
        word(event, "type") in {"app_mention", "message"}
        and word(event, "subtype") in SAID_BY_PEOPLE
        and not any(event.get(name) for name in ("hidden", "bot_id", "bot_profile"))
        and user not in {"", SLACKBOT, workspace.bot_user_id}
        and bool(word(event, "ts"))
        and bool(word(event, "channel"))
    )


def may_be_a_follow_up(event: Mapping[str, Any], text: str, workspace: Workspace) -> bool:
    """A reply in a thread that says something and says it to nobody else."""
    return (
        word(event, "thread_ts") not in {"", word(event, "ts")}
        and not begins_with_somebody_else(text, workspace.bot_user_id)
        and not is_only_thanks(text)
        and bool(_asked(text, workspace))
    )


def question_of(
    event: Mapping[str, Any], text: str, workspace: Workspace, *, heard_at: datetime
) -> IncomingQuestion:
    asked = _asked(text, workspace)
    ts = word(event, "ts")
    return IncomingQuestion(
        key=ConversationKey(
            platform=Platform.SLACK,
            tenant=workspace.team_id,
            channel_id=word(event, "channel"),
            thread_id=word(event, "thread_ts") or ts,
        ),
        message_id=ts,
        asker_id=word(event, "user"),
        question=Question(message=shortened(asked) or BARE_MENTION),
        heard_at=heard_at,
        position=ts,
        address={SHORTENED: "yes"} if len(asked) > MAX_QUESTION else {},
    )


def word(event: Mapping[str, Any], name: str) -> str:
    """A field that is text; nothing where it is missing or something else."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _asked(text: str, workspace: Workspace) -> str:
    """The words of a message; nothing where it has only characters that do not show."""
    words = plain_text(text, workspace.bot_user_id)
    return "" if all(is_invisible(character) for character in words) else words
