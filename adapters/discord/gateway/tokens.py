"""Answers to interactions: each is acknowledged once, then written to by its token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import aiohttp
import discord
from discord.http import MultipartParameters
from discord.webhook.async_ import interaction_response_params

from adapters.discord.answering.post import SUPPRESS_EMBEDS, Post
from adapters.discord.gateway.connection import Connection
from adapters.discord.gateway.errors import ACKNOWLEDGED, SERVICE, DiscordRefused, discord_errors
from adapters.discord.gateway.tries import refused_at_first
from rag_core.errors import UpstreamUnavailable

PRIVATE = 1 << 6


class Callback(IntEnum):
    """How an interaction is acknowledged."""

    MESSAGE = 4
    DEFER = 5
    DEFER_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    FORM = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """What lets us answer one interaction: for three seconds, then for fifteen minutes."""

    interaction_id: str
    application_id: str
    token: str = field(repr=False)


def ticket_of(interaction: discord.Interaction) -> Ticket:
    return Ticket(
        interaction_id=str(interaction.id),
        application_id=str(interaction.application_id),
        token=interaction.token,
    )


class TicketRest:
    """The calls that need a token and no log-in; they ping nobody."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def defer(self, ticket: Ticket, *, private: bool) -> None:
        """Say that an answer is coming."""
        await self._acknowledge(ticket, Callback.DEFER, {"flags": PRIVATE} if private else {})

    async def settle(self, ticket: Ticket) -> None:
        """Acknowledge a button or form without showing anything."""
        await self._acknowledge(ticket, Callback.DEFER_UPDATE, None)

    async def say(self, ticket: Ticket, sentence: str) -> None:
        """Answer at once, for the person alone."""
        data = Post(content=sentence).body(flags=PRIVATE | SUPPRESS_EMBEDS)
        await self._acknowledge(ticket, Callback.MESSAGE, data)

    async def replace(self, ticket: Ticket, post: Post | str) -> None:
        """Let other words stand in place of the message whose button was pressed."""
        await self._acknowledge(ticket, Callback.UPDATE, as_post(post).body())

    async def choose(self, ticket: Ticket, choices: Sequence[str]) -> None:
        data = {"choices": [{"name": choice, "value": choice} for choice in choices]}
        await self._acknowledge(ticket, Callback.CHOICES, data)

    async def ask(self, ticket: Ticket, form: Mapping[str, Any]) -> None:
        """Open a form."""
        await self._acknowledge(ticket, Callback.FORM, dict(form))

    async def write(self, ticket: Ticket, post: Post | str) -> str:
        """Put the answer where it was said that one is coming; a repeat changes nothing."""
        with as_post(post).parameters(flags=SUPPRESS_EMBEDS) as params, discord_errors():
            answer = await self._connection.webhooks.edit_original_interaction_response(
                int(ticket.application_id),
                ticket.token,
                session=self._session,
                **options_in(params),
            )
        return _id_in(answer)

    async def add(self, ticket: Ticket, post: Post | str, *, private: bool) -> str:
        """One more message below the answer."""
        flags = SUPPRESS_EMBEDS | (PRIVATE if private else 0)
        with (
            as_post(post).parameters(flags=flags) as params,
            refused_at_first(),
            discord_errors(),
        ):
            answer = await self._connection.webhooks.execute_webhook(
                int(ticket.application_id),
                ticket.token,
                session=self._session,
                wait=True,
                **options_in(params),
            )
        return _id_in(answer)

    async def rewrite(self, ticket: Ticket, message_id: str, post: Post) -> None:
        """Let one message of the answer say this."""
        with post.parameters() as params, discord_errors():
            await self._connection.webhooks.edit_webhook_message(
                int(ticket.application_id),
                ticket.token,
                int(message_id),
                session=self._session,
                **options_in(params),
            )

    async def take_back(self, ticket: Ticket, message_id: str) -> None:
        """Delete one message of the answer."""
        with discord_errors():
            await self._connection.webhooks.delete_webhook_message(
                int(ticket.application_id), ticket.token, int(message_id), session=self._session
            )

    @property
    def _session(self) -> aiohttp.ClientSession:
        if not self._connection.is_logged_in or self._connection.is_closed():
            raise UpstreamUnavailable(SERVICE, "not connected")
        return self._connection.session

    async def _acknowledge(
        self, ticket: Ticket, kind: Callback, data: dict[str, Any] | None
    ) -> None:
        """Once; Discord tells that it was done already where its answer was lost."""
        try:
            with discord_errors():
                await self._connection.webhooks.create_interaction_response(
                    int(ticket.interaction_id),
                    ticket.token,
                    session=self._session,
                    params=interaction_response_params(int(kind), data),
                )
        except DiscordRefused as refusal:
            if refusal.code != ACKNOWLEDGED:
                raise


def as_post(said: Post | str) -> Post:
    return said if isinstance(said, Post) else Post(content=said)


def options_in(params: MultipartParameters) -> dict[str, Any]:
    return {"payload": params.payload, "multipart": params.multipart, "files": params.files}


def _id_in(answer: Any) -> str:
    if not isinstance(answer, dict) or "id" not in answer:
        raise UpstreamUnavailable(SERVICE, "unreadable answer")
    return str(answer["id"])
