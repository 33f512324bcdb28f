"""The /footnote commands: what everybody may do, and what admins may."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

import discord

from adapters.apologies import sentence_for
from adapters.discord.acting import group, lists
from adapters.discord.acting.asking import spot_of
from adapters.discord.acting.filled_in import place_in, policy_in, reader_in, subcommand_of
from adapters.discord.answering.markdown import discord_parts, to_discord_markdown
from adapters.discord.answering.renderer import pack_lines
from adapters.discord.gateway.tokens import TicketRest, ticket_of
from adapters.discord.hearing.channels import Spot
from adapters.discord.hearing.readers import Readers, roles_of
from adapters.discord.hearing.standing import MutedThreads
from adapters.discord.wording import escaped
from adapters.policy_words import in_words, reader_in_words
from adapters.steward import Steward
from rag_core.books.policy import ChannelPolicy, Place, ReaderProfile
from rag_core.conversation.key import Platform
from rag_core.errors import FootnoteError, InvalidQuestion

log = logging.getLogger(__name__)

MAX_MESSAGE = 1_900
NOT_ADMIN = "This is for admins: people who may manage this server, or have one of my admin roles."
NO_SERVER = "This belongs to a server: please use it there."
NO_STEWARD = "This is not available in this installation."
NOT_A_THREAD = "This belongs into a thread."
MUTED = "I am quiet in this thread now, unless I am mentioned."
UNMUTED = "I answer in this thread again."
FORGOTTEN = "You and everything that you have asked here are being removed: gone within a minute."
NOT_SURE = "Nothing was removed."
NO_PROFILE = "I know nothing special of you: you get everything this place may read."

Act = Callable[[discord.Interaction, Spot, Mapping[str, Any]], Awaitable[str]]


class Stewardship:
    """Every answer is for the person alone."""

    def __init__(
        self,
        steward: Steward | None,
        *,
        tickets: TicketRest,
        muted: MutedThreads,
        readers: Readers,
        admin_roles: Collection[str],
    ) -> None:
        self._steward = steward
        self._tickets = tickets
        self._muted = muted
        self._readers = readers
        self._admin_roles = admin_roles
        self._open: Mapping[str, Act] = {
            group.HELP: self._help,
            group.MUTE: self._mute,
            group.PROFILE: self._profile,
            group.FORGET_ME: self._forget,
        }
        self._guarded: Mapping[str, Act] = {
            group.BOOKS: self._books,
            group.SETTINGS: self._settings,
            group.DOCTOR: self._doctor,
            group.JOBS: self._jobs,
            group.GAPS: self._gaps,
        }

    async def run(self, interaction: discord.Interaction) -> None:
        ticket = ticket_of(interaction)
        await self._tickets.defer(ticket, private=True)
        name, options = subcommand_of(interaction)
        try:
            told = await self._told(interaction, name, options)
            first, *more = pack_lines(told.split("\n"), MAX_MESSAGE)
        except FootnoteError as error:
            wrong = error.message if isinstance(error, InvalidQuestion) else sentence_for(error)
            first, *more = discord_parts(wrong, MAX_MESSAGE)
        await self._tickets.write(ticket, first)
        for part in more:
            await self._tickets.add(ticket, part, private=True)

    async def book_choices(self, typed: str, *, spot: Spot) -> list[str]:
        if self._steward is None:
            return []
        books = await self._steward.books(place_of(spot), category_id=spot.category_id)
        return [book.book_id for book in books if typed.casefold() in book.book_id]

    async def _told(
        self, interaction: discord.Interaction, name: str, options: Mapping[str, Any]
    ) -> str:
        spot = spot_of(interaction)
        if act := self._open.get(name):
            return await act(interaction, spot, options)
        if spot.is_direct:
            return NO_SERVER
        if not self._is_admin(interaction):
            return NOT_ADMIN
        return await self._guarded[name](interaction, spot, options)

    def _is_admin(self, interaction: discord.Interaction) -> bool:
        may = interaction.permissions
        roles = roles_of(interaction.user)
        return may.manage_guild or may.administrator or bool(roles & set(self._admin_roles))

    @property
    def _house(self) -> Steward:
        if self._steward is None:
            raise InvalidQuestion("command", NO_STEWARD)
        return self._steward

    async def _help(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        is_admin = not spot.is_direct and self._is_admin(interaction)
        return lists.HELP_TEXT + (lists.ADMIN_HELP if is_admin else "")

    async def _mute(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        if not spot.is_thread or spot.is_direct:
            return NOT_A_THREAD
        muted = await self._muted.switch(spot.writes, by=str(interaction.id))
        return MUTED if muted else UNMUTED

    async def _profile(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        user = interaction.user
        if options.get("reset"):
            await self._readers.say(str(user.id), spot.tenant, None)
        elif said := reader_in(options):
            known = await self._readers.profile(user, spot.tenant) or ReaderProfile()
            await self._readers.say(str(user.id), spot.tenant, said.over(known))
        now = await self._readers.profile(user, spot.tenant)
        return f"You count among the {escaped(reader_in_words(now))}." if now else NO_PROFILE

    async def _forget(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        if not options.get("sure"):
            return NOT_SURE
        user_id = str(interaction.user.id)
        await self._readers.say(user_id, spot.tenant, None)  # the house then drops what is left
        await self._house.forget(platform=Platform.DISCORD, tenant=spot.tenant, asker_id=user_id)
        return FORGOTTEN

    async def _doctor(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        place, category_id = place_of(spot), spot.category_id
        return lists.findings(await self._house.findings(place, category_id=category_id))

    async def _jobs(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        place, category_id = place_of(spot), spot.category_id
        return lists.jobs(await self._house.jobs(place, category_id=category_id))

    async def _gaps(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        place, category_id = place_of(spot), spot.category_id
        return lists.gaps(await self._house.gaps(place, category_id=category_id))

    async def _books(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        place, name = place_in(interaction, spot, options)
        book_id = options.get("book")
        if book_id is None:
            holds = in_words(await self._house.policy(place, category_id=spot.category_id))
            books = await self._house.books(place_of(spot), category_id=spot.category_id)
            return f"{lists.books(books)}\n{in_place(name, holds)}"
        return await self._changed(place, name, lambda own: own.reading(str(book_id)))

    async def _settings(
        self, interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
    ) -> str:
        place, name = place_in(interaction, spot, options)
        changes = policy_in(options)
        if options.get("reset"):
            return await self._changed(place, name, lambda _: changes.over(ChannelPolicy()))
        return await self._changed(place, name, changes.over)

    async def _changed(
        self, place: Place, name: str, change: Callable[[ChannelPolicy], ChannelPolicy]
    ) -> str:
        """The place's own words with the change; what wider places say stays theirs."""
        own = await self._house.own_policy(place)
        changed = change(own)
        if changed != own:
            await self._house.set_policy(place, changed)
        return in_place(name, in_words(await self._house.policy(place)))


def place_of(spot: Spot) -> Place:
    """Where a command is used."""
    return Place(platform=Platform.DISCORD, tenant=spot.tenant, channel_id=spot.reads)


def in_place(name: str, holds: str) -> str:
    return to_discord_markdown(f"In {name}: {holds}.")
