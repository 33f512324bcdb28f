"""What happens to commands: acknowledged at once, then handed on."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import discord

from adapters.discord.acting.asking import asked_by_command, asked_by_menu, options_of, spot_of
from adapters.discord.acting.commands import ANSWER_THIS, ASK, LOOKUP
from adapters.discord.acting.filled_in import subcommand_of
from adapters.discord.acting.group import GROUP
from adapters.discord.acting.lookup import MAX_CHOICES as MOST
from adapters.discord.acting.lookup import Lookup
from adapters.discord.acting.stewardship import Stewardship
from adapters.discord.gateway.patience import NOT_TAKEN, in_hand
from adapters.discord.gateway.tokens import TicketRest, ticket_of
from adapters.discord.hearing.channels import Spot
from adapters.discord.hearing.readers import Readers
from adapters.discord.hearing.servers import Servers
from adapters.platform import AcceptsQuestions
from adapters.refusals import refusal_sentence
from rag_core.books.policy import ReaderProfile
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import FootnoteError, InvalidQuestion, StorageError, UpstreamError

log = logging.getLogger(__name__)

Handler = Callable[[discord.Interaction], Awaitable[None]]
Takes = Callable[[discord.Interaction], Awaitable[bool]]
"""Answers an interaction, or says that it is somebody else's."""
Reads = Callable[..., IncomingQuestion]
NOT_KNOWN = "I do not know this command any more: Discord shows the new ones in a while."


class Commands:
    """Answers slash commands, message menus and what is being typed into them."""

    def __init__(
        self,
        *,
        desk: AcceptsQuestions,
        tickets: TicketRest,
        lookup: Lookup | None,
        readers: Readers,
        stewardship: Stewardship,
        pauses: tuple[float, ...],
    ) -> None:
        self._desk = desk
        self._tickets = tickets
        self._lookup = lookup
        self._readers = readers
        self._stewardship = stewardship
        self._pauses = pauses

    async def hear(self, interaction: discord.Interaction) -> None:
        match interaction.type, name_of(interaction):
            case discord.InteractionType.application_command, name:
                await self._command(interaction, name)
            case discord.InteractionType.autocomplete, name:
                choices = await self._choices(interaction, name)
                await self._tickets.choose(ticket_of(interaction), choices)

    async def _command(self, interaction: discord.Interaction, name: str) -> None:
        try:
            if name == ASK:
                await self._ask(interaction, asked_by_command)
            elif name == ANSWER_THIS:
                await self._ask(interaction, asked_by_menu)
            elif name == GROUP:
                await self._stewardship.run(interaction)
            elif name == LOOKUP and self._lookup is not None:
                await self._look_up(interaction, self._lookup)
            else:
                await self._tickets.say(ticket_of(interaction), NOT_KNOWN)
        except InvalidQuestion as error:
            await self._tickets.say(ticket_of(interaction), error.message)

    async def _ask(self, interaction: discord.Interaction, read: Reads) -> None:
        question = read(interaction, at=datetime.now(UTC))
        ticket = ticket_of(interaction)
        await self._defer(interaction, private=question.private)

        sentence = NOT_TAKEN

        async def hand_in() -> None:
            nonlocal sentence
            reader = await self._readers.profile(interaction.user, question.key.tenant)
            receipt = await self._desk.accept(replace(question, reader=reader))
            sentence = refusal_sentence(receipt, locale=question.locale)

        await in_hand(hand_in, pauses=self._pauses, message_id=question.message_id)
        if sentence:
            await self._tickets.write(ticket, sentence)

    async def _defer(self, interaction: discord.Interaction, *, private: bool) -> None:
        """A question counts even where its acknowledgement failed: the answer finds its way."""
        try:
            await self._tickets.defer(ticket_of(interaction), private=private)
        except UpstreamError as error:
            log.warning("a command was not acknowledged", extra=ids(interaction, error))

    async def _look_up(self, interaction: discord.Interaction, lookup: Lookup) -> None:
        spot, ticket = spot_of(interaction), ticket_of(interaction)
        await self._tickets.defer(ticket, private=True)
        query = str(options_of(interaction).get("query") or "")
        reader = await self._reader(interaction, spot)
        await self._tickets.write(ticket, await lookup.passages(query, spot, reader))

    async def _choices(self, interaction: discord.Interaction, name: str) -> Sequence[str]:
        spot = spot_of(interaction)
        if name == GROUP:
            _, options = subcommand_of(interaction)
            typed = str(options.get("book") or "")
            return (await self._stewardship.book_choices(typed, spot=spot))[:MOST]
        if self._lookup is None:
            return []
        options = options_of(interaction)
        if name == LOOKUP:
            reader = await self._reader(interaction, spot)
            typed = str(options.get("query") or "")
            return await self._lookup.section_titles(typed, spot, reader)
        return await self._lookup.modules(str(options.get("module") or ""), spot)

    async def _reader(self, interaction: discord.Interaction, spot: Spot) -> ReaderProfile | None:
        """Nobody's search waits for a database that is away."""
        try:
            return await self._readers.profile(interaction.user, spot.tenant)
        except StorageError:
            return None


class Interactions:
    """Leads every interaction to who answers it; one that cannot be answered is only logged."""

    def __init__(
        self,
        *handlers: Handler,
        servers: Servers,
        tickets: TicketRest,
        first: Takes | None = None,
    ) -> None:
        self._handlers = handlers
        self._servers = servers
        self._tickets = tickets
        self._first = first

    async def hear(self, interaction: discord.Interaction) -> None:
        try:
            if not await self._is_admitted(interaction):
                await self._refuse(interaction)
                return
            if self._first is not None and await self._first(interaction):
                return
            for handler in self._handlers:
                await handler(interaction)
        except FootnoteError as error:
            log.warning("an interaction was not answered", extra=ids(interaction, error))

    async def _is_admitted(self, interaction: discord.Interaction) -> bool:
        guild_id = interaction.guild_id
        guild = interaction.client.get_guild(guild_id) if guild_id is not None else None
        return await self._servers.admits(interaction.user, guild_id=guild_id, guild=guild)

    async def _refuse(self, interaction: discord.Interaction) -> None:
        """Each time, because an interaction without an answer looks like a defect; to whoever
        used it alone."""
        ticket = ticket_of(interaction)
        if interaction.type is discord.InteractionType.autocomplete:
            await self._tickets.choose(ticket, [])
        else:
            await self._tickets.say(ticket, self._servers.refusal(interaction))


def name_of(interaction: discord.Interaction) -> str:
    data: Mapping[str, Any] = interaction.data or {}
    return str(data.get("name", ""))


def ids(interaction: discord.Interaction, error: FootnoteError) -> dict[str, str]:
    """What a log line may say of an interaction."""
    kind = interaction.type.name
    return {"interaction_id": str(interaction.id), "kind": kind, "cause": str(error)}
