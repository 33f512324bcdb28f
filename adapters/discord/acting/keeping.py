"""Asks staff on Discord whether a reply is to be kept as an answer, and does what they decide.

Only answers to interactions can be seen by one person alone, and a reply is none: so its author
is asked in a direct message, and who takes none finds the same in the message's menu."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import discord

from adapters.discord.acting.asking import spot_of as spot_of_interaction
from adapters.discord.acting.buttons import BUTTON, SECONDARY, SUCCESS, rows
from adapters.discord.answering.post import Post
from adapters.discord.gateway.patience import in_hand
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.gateway.tokens import TicketRest, ticket_of
from adapters.discord.hearing.channels import Spot, spot_in
from adapters.discord.hearing.events import ASKING_TYPES, asked_text, is_addressed, spot_of
from adapters.discord.hearing.readers import roles_of
from adapters.discord.wording import escaped
from adapters.staff_answers import (
    KEEP,
    LABELS,
    NOT_KEPT_HERE,
    NOT_STAFF,
    NOT_YOURS,
    NOTHING_TO_KEEP,
    WITHDRAW,
    Decisions,
    KeepsAnswers,
    asking,
    choices,
)
from rag_core.conversation.key import Platform
from rag_core.errors import DeskFull, FootnoteError, StorageError
from rag_core.staff.answer import Refused, StaffAnswer, StaffReply, may_answer

log = logging.getLogger(__name__)

KEEP_THIS = LABELS[KEEP]
"""The name of the command in a message's menu."""
MARK = re.compile(r"staff:(keep|leave|withdraw):([0-9a-f]{32})")


class Keeping:
    """Staff are the members with the role that is called, and with the roles of admins."""

    def __init__(
        self,
        staffing: KeepsAnswers,
        *,
        staff_roles: Mapping[str, str],
        admin_roles: Collection[str],
        rest: DiscordRest,
        tickets: TicketRest,
        pauses: tuple[float, ...],
    ) -> None:
        self._staffing = staffing
        self._decisions = Decisions(staffing)
        self._staff_roles = staff_roles
        self._admin_roles = frozenset(admin_roles)
        self._rest = rest
        self._tickets = tickets
        self._pauses = pauses

    async def heard(self, message: discord.Message, *, me: discord.abc.User) -> bool:
        """Whether this is a reply of the staff to a question that the documents left open; then
        it is no question for us."""
        spot = spot_of(message)
        if spot is None or not spot.is_thread or spot.is_direct:
            return False
        text = asked_text(message, me)
        if not self._may_be_reply(message, spot, me) or not may_answer(text):
            return False
        try:
            refused = await self._staffing.refused_in(spot.key_for(message.id))
            if refused is None or refused.asker_id == str(message.author.id):
                return False
            await self._ask(reply_of(message, spot, text), refused)
        except FootnoteError as error:
            log.warning("staff were not asked", extra={"cause": type(error).__name__})
            return not isinstance(error, DeskFull | StorageError)
        return True

    async def edited(self, message: discord.Message, *, me: discord.abc.User) -> None:
        """A kept answer says what its message says."""
        spot = spot_of(message)
        if spot is not None and not spot.is_direct:
            identity, text = spot.identity_of(message.id), asked_text(message, me)
            await self._in_hand(lambda: self._staffing.edited(identity, text), message.id)

    async def deleted(self, channel: Any, message_ids: Iterable[int]) -> None:
        """It goes with its message."""
        spot = spot_in(channel)
        if spot is not None:
            for message_id in message_ids:
                gone = partial(self._staffing.deleted, spot.identity_of(message_id))
                await self._in_hand(gone, message_id)

    async def _in_hand(self, change: Callable[[], Awaitable[None]], message_id: int) -> None:
        """A database that is away for a moment loses nothing."""
        await in_hand(change, pauses=self._pauses, message_id=str(message_id))

    async def hear(self, interaction: discord.Interaction) -> bool:
        """A button of ours, or our command in a message's menu; whether it was one."""
        data: Mapping[str, Any] = interaction.data or {}
        if interaction.type is discord.InteractionType.application_command:
            if data.get("name") != KEEP_THIS:
                return False
            await self._pointed_at(interaction, data)
            return True
        found = MARK.fullmatch(str(data.get("custom_id", "")))
        if found is None:
            return False
        await self._pressed(interaction, found[1], UUID(found[2]))
        return True

    async def _pressed(self, interaction: discord.Interaction, act: str, answer_id: UUID) -> None:
        """In the place of the question, so that nobody presses it twice."""
        told = await self._decisions.decide(
            act,
            answer_id,
            by=str(interaction.user.id),
            at=(Platform.DISCORD, spot_of_interaction(interaction).tenant),
            is_admin=self._is_admin(interaction.user),
        )
        left = rows(buttons([WITHDRAW] if act == KEEP else [], answer_id))
        post = Post(content=escaped(told), components=left)
        await self._tickets.replace(ticket_of(interaction), post)

    async def _pointed_at(self, interaction: discord.Interaction, data: Mapping[str, Any]) -> None:
        ticket, spot = ticket_of(interaction), spot_of_interaction(interaction)
        await self._tickets.defer(ticket, private=True)
        pointed = data["resolved"]["messages"][data["target_id"]]
        if not self._is_staff(interaction.user, spot):
            await self._tickets.write(ticket, NOT_STAFF)
            return
        if pointed["author"]["id"] != str(interaction.user.id):
            await self._tickets.write(ticket, NOT_YOURS)
            return
        message_id = int(data["target_id"])
        refused = await self._staffing.refused_in(spot.key_for(message_id))
        said = StaffReply(
            key=spot.key_for(message_id),
            message_id=str(message_id),
            author_id=str(interaction.user.id),
            author=interaction.user.display_name,
            text=pointed["content"],
            said_at=discord.utils.snowflake_time(message_id),
            link=link_to(spot, message_id),
            category_id=spot.category_id,
        )
        answer = await self._staffing.offer(said, refused)
        if answer is not None:
            await self._tickets.write(ticket, question(answer))
        else:
            may = may_answer(said.text)
            await self._tickets.write(ticket, NOT_KEPT_HERE if may else NOTHING_TO_KEEP)

    async def _ask(self, said: StaffReply, refused: Refused) -> None:
        answer = await self._staffing.offer(said, refused)
        if answer is None:
            return
        direct = await self._rest.open_direct(said.author_id)
        await self._rest.send(direct, question(answer), nonce=f"staff{answer.id.hex[:20]}")

    def _may_be_reply(self, message: discord.Message, spot: Spot, me: discord.abc.User) -> bool:
        return (
            message.type in ASKING_TYPES
            and not message.author.bot
            and message.webhook_id is None
            and self._is_staff(message.author, spot)
            and not is_addressed(message, me)
        )

    def _is_staff(self, person: discord.abc.User, spot: Spot) -> bool:
        role = self._staff_roles.get(spot.tenant)
        return self._is_admin(person) or (role is not None and role in roles_of(person))

    def _is_admin(self, person: discord.abc.User) -> bool:
        manages = isinstance(person, discord.Member) and person.guild_permissions.manage_guild
        return manages or bool(self._admin_roles & roles_of(person))


def reply_of(message: discord.Message, spot: Spot, text: str) -> StaffReply:
    return StaffReply(
        key=spot.key_for(message.id),
        message_id=str(message.id),
        author_id=str(message.author.id),
        author=message.author.display_name,
        text=text,
        said_at=message.created_at,
        link=link_to(spot, message.id),
        category_id=spot.category_id,
    )


def link_to(spot: Spot, message_id: int) -> str:
    return f"https://discord.com/channels/{spot.tenant}/{spot.writes}/{message_id}"


def question(answer: StaffAnswer) -> Post:
    """What is asked, with its buttons; what they belong to stands in them."""
    below = rows(buttons(choices(answer), answer.id))
    return Post(content=f"{escaped(asking(answer))}\n{answer.link}", components=below)


def buttons(acts: Sequence[str], answer_id: UUID) -> list[dict[str, Any]]:
    return [
        {
            "type": BUTTON,
            "style": SUCCESS if act == KEEP else SECONDARY,
            "label": LABELS[act],
            "custom_id": f"staff:{act}:{answer_id.hex}",
        }
        for act in acts
    ]
