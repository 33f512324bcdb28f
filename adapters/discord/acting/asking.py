"""A command → the question it asks, and where its answer belongs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import discord

from adapters.discord.gateway.tokens import Ticket
from adapters.discord.hearing.channels import Spot, spot_in
from adapters.discord.hearing.events import ONLY_FILES
from adapters.discord.wording import with_names, without_mention
from adapters.pastes import split_message
from rag_core.conversation.key import ConversationKey, Platform
from rag_core.conversation.question import Question, shows_nothing
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.query import Filters

TOKEN, APPLICATION, CHANNEL = "interaction", "application", "channel"
"""Where in a question's address the way back to its interaction stands."""
NOT_HERE = "I cannot answer in this kind of channel."


def spot_of(interaction: discord.Interaction) -> Spot:
    """Where somebody used a command or pressed a button."""
    spot = spot_in(interaction.channel) if interaction.channel is not None else None
    if spot is None:
        raise InvalidQuestion("channel", NOT_HERE)
    return spot


def options_of(interaction: discord.Interaction) -> dict[str, Any]:
    """What was filled in, by name."""
    data: Mapping[str, Any] = interaction.data or {}
    return {option["name"]: option.get("value") for option in data.get("options") or ()}


def asked_by_command(interaction: discord.Interaction, *, at: datetime) -> IncomingQuestion:
    options = options_of(interaction)
    return _question(
        interaction,
        str(options.get("question") or ""),
        at=at,
        module=options.get("module"),
        private=bool(options.get("private", False)),
    )


def asked_by_menu(interaction: discord.Interaction, *, at: datetime) -> IncomingQuestion:
    """The message that was pointed at is the question; who pointed is the asker."""
    data: Mapping[str, Any] = interaction.data or {}
    messages = (data.get("resolved") or {}).get("messages") or {}
    pointed: Mapping[str, Any] = messages.get(data.get("target_id")) or {}
    names = {int(user["id"]): user.get("global_name") or user["username"]
             for user in pointed.get("mentions") or ()}  # fmt: skip
    me = interaction.client.user
    said = pointed.get("content") or handed_on(pointed)
    text = said if me is None else without_mention(said, me.id)
    text = with_names(text, names)
    if shows_nothing(text):
        raise InvalidQuestion("message", ONLY_FILES)
    return _question(interaction, text, at=at)


def handed_on(message: Mapping[str, Any]) -> str:
    """What somebody hands on says what its writer wrote."""
    snapshots = message.get("message_snapshots") or ()
    said = ((each.get("message") or {}).get("content") or "" for each in snapshots)
    return "\n\n".join(words for words in said if words)


def _question(
    interaction: discord.Interaction,
    text: str,
    *,
    at: datetime,
    module: str | None = None,
    private: bool = False,
) -> IncomingQuestion:
    spot = spot_of(interaction)
    address = {
        TOKEN: interaction.token,
        APPLICATION: str(interaction.application_id),
        CHANNEL: spot.writes,
    }
    split = split_message(text)
    return IncomingQuestion(
        key=ConversationKey(
            platform=Platform.DISCORD,
            tenant=spot.tenant,
            channel_id=spot.reads,
            # What one person sees alone is not what the thread goes on from.
            thread_id=spot.writes if spot.is_thread and not private else str(interaction.id),
        ),
        message_id=str(interaction.id),
        asker_id=str(interaction.user.id),
        question=Question(
            message=split.question, context=split.context, filters=Filters(module=module)
        ),
        heard_at=at,
        position=f"{interaction.id:020d}",
        address=address,
        category_id=spot.category_id,
        locale=interaction.locale.value,
        private=private,
        original_length=split.original_length,
    )


def came_by_command(question: IncomingQuestion) -> bool:
    return TOKEN in question.address


def ticket_for(question: IncomingQuestion) -> Ticket:
    """The way back to the interaction that asked."""
    return Ticket(
        interaction_id=question.message_id,
        application_id=question.address[APPLICATION],
        token=question.address[TOKEN],
    )
