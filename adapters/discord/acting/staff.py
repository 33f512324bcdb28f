"""Calls a person where the documents did not help, and notes when the matter is resolved."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from uuid import UUID

import discord

from adapters.discord.acting.asking import spot_of
from adapters.discord.acting.buttons import Pressed, button, rows
from adapters.discord.answering.post import Post
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.gateway.tokens import TicketRest, ticket_of
from adapters.discord.hearing.readers import roles_of
from adapters.discord.wording import escaped
from adapters.presses import Press
from adapters.review import Review
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

CALL = "<@&{role}> A person is asked for: please look at the question and the answer above."
RESOLVED = "-# ✅ Resolved by {name}."
CALLED = "A person was asked: they answer here."
NO_STAFF = "Nobody is named on this server whom I could ask."
NOT_CALLED = "Discord did not let me ask a person here. Please turn to an admin of this server."
NOT_STAFF = "Only who asked for a person, or a person who was asked, can mark this as resolved."
RESOLVED_TAGS = {"resolved", "solved", "answered", "gelöst", "resuelto", "résolu"}
MAX_TAGS = 5


class StaffDesk:
    """The one place from where a role is pinged, and each answer does so once."""

    def __init__(
        self,
        roles: Mapping[str, str],
        review: Review,
        *,
        tickets: TicketRest,
        rest: DiscordRest,
    ) -> None:
        self._roles = roles
        self._review = review
        self._tickets = tickets
        self._rest = rest

    async def call(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        ticket, spot = ticket_of(interaction), spot_of(interaction)
        await self._tickets.defer(ticket, private=True)
        role = self._roles.get(spot.tenant)
        if role is None:
            await self._tickets.write(ticket, NO_STAFF)
            return
        caller = str(interaction.user.id)

        async def post() -> None:
            await self._post(spot.writes, role, pressed.answer_id, caller, interaction.message)

        try:
            refused = await self._review.call_a_person(pressed.answer_id, post)
        except UpstreamError as error:
            log.warning("no person could be asked", extra={"cause": str(error)})
            refused = NOT_CALLED
        await self._tickets.write(ticket, refused or CALLED)

    async def _post(
        self,
        channel_id: str,
        role: str,
        answer_id: UUID,
        caller: str,
        answer: discord.Message | None,
    ) -> None:
        resolved = rows([button(Press.RESOLVED, answer_id, caller)])
        await self._rest.send(
            channel_id,
            Post(content=CALL.format(role=role), components=resolved),
            nonce=f"call{answer_id.hex[:20]}",
            reply_to=str(answer.id) if answer is not None else None,
            pings_role=role,
        )

    async def resolve(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        ticket = ticket_of(interaction)
        if not self._may_resolve(interaction, pressed):
            await self._tickets.say(ticket, NOT_STAFF)
            return
        name = escaped(interaction.user.display_name)
        await self._tickets.replace(ticket, RESOLVED.format(name=name))
        if isinstance(interaction.channel, discord.Thread):
            await self._tag(interaction.channel)

    def _may_resolve(self, interaction: discord.Interaction, pressed: Pressed) -> bool:
        user = interaction.user
        if str(user.id) == pressed.detail or interaction.permissions.manage_messages:
            return True
        role = self._roles.get(spot_of(interaction).tenant)
        return role in roles_of(user)

    async def _tag(self, post: discord.Thread) -> None:
        """Best effort, in forums that have a tag for it."""
        forum = post.parent
        if not isinstance(forum, discord.ForumChannel):
            return
        found = [tag.id for tag in forum.available_tags if tag.name.casefold() in RESOLVED_TAGS]
        worn = [tag.id for tag in post.applied_tags]
        if not found or found[0] in worn or len(worn) >= MAX_TAGS:
            return
        try:
            await self._rest.tag(str(post.id), [*worn, found[0]])
        except UpstreamError as error:
            log.warning("a post was not tagged as resolved", extra={"cause": str(error)})
