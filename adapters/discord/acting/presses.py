"""What happens on Discord when somebody presses a button below an answer, or sends its form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import discord

from adapters.discord.acting.asking import spot_of
from adapters.discord.acting.buttons import Pressed, read_mark, reason_form
from adapters.discord.acting.evidence import evidence
from adapters.discord.acting.staff import StaffDesk
from adapters.discord.gateway.tokens import TicketRest, ticket_of
from adapters.presses import Press
from adapters.review import Review
from rag_core.conversation.key import Platform
from rag_core.desk.incoming import MessageIdentity

NOT_KNOWN = "I do not know this button any more."


class Presses:
    """Acknowledges a press, has it carried out, and tells whoever pressed, and nobody else."""

    def __init__(self, review: Review, *, tickets: TicketRest, staff: StaffDesk) -> None:
        self._review = review
        self._tickets = tickets
        self._acts: Mapping[Press, Callable[[discord.Interaction, Pressed], Awaitable[None]]] = {
            Press.HELPFUL: self._helped,
            Press.NOT_HELPFUL: self._did_not_help,
            Press.REASON: self._why,
            Press.EVIDENCE: self._show,
            Press.DELETE: self._delete,
            Press.AGAIN: self._ask_again,
            Press.PERSON: staff.call,
            Press.RESOLVED: staff.resolve,
        }

    async def hear(self, interaction: discord.Interaction) -> None:
        if interaction.type not in {
            discord.InteractionType.component,
            discord.InteractionType.modal_submit,
        }:
            return
        pressed = read_mark(str(data_of(interaction).get("custom_id", "")))
        if pressed is None:
            await self._tickets.say(ticket_of(interaction), NOT_KNOWN)
        else:
            await self._acts[pressed.press](interaction, pressed)

    async def _helped(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        await self._rate(interaction, pressed, helpful=True)

    async def _did_not_help(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """The rating counts even if the form is put away; the form has to come first, at once."""
        await self._tickets.ask(ticket_of(interaction), reason_form(pressed.answer_id))
        await self._review.rate(pressed.answer_id, asker_id=str(interaction.user.id), helpful=False)

    async def _why(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        reason = next(typed_in(data_of(interaction)), "").strip()
        await self._rate(interaction, pressed, helpful=False, reason=reason)

    async def _rate(
        self, interaction: discord.Interaction, pressed: Pressed, *, helpful: bool, reason: str = ""
    ) -> None:
        ticket = ticket_of(interaction)
        await self._tickets.defer(ticket, private=True)
        told = await self._review.rate(
            pressed.answer_id, asker_id=str(interaction.user.id), helpful=helpful, reason=reason
        )
        await self._tickets.write(ticket, told)

    async def _show(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        ticket = ticket_of(interaction)
        await self._tickets.defer(ticket, private=True)
        spot = spot_of(interaction)
        found = await self._review.shown(
            pressed.answer_id,
            platform=Platform.DISCORD,
            tenant=spot.tenant,
            category_id=spot.category_id,
        )
        shown: Sequence[str] = [found] if isinstance(found, str) else evidence(found)
        await self._tickets.write(ticket, shown[0])
        for message in shown[1:]:
            await self._tickets.add(ticket, message, private=True)

    async def _delete(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        ticket, spot = ticket_of(interaction), spot_of(interaction)
        await self._tickets.settle(ticket)
        asked = MessageIdentity(
            platform=Platform.DISCORD.value,
            tenant=spot.tenant,
            channel_id=spot.reads,
            message_id=pressed.detail,
        )
        refused = await self._review.delete(asked, asker_id=str(interaction.user.id))
        if refused is not None:
            await self._tickets.add(ticket, refused, private=True)

    async def _ask_again(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        ticket = ticket_of(interaction)
        await self._tickets.defer(ticket, private=True)
        asker_id = str(interaction.user.id)
        told = await self._review.ask_again(pressed.answer_id, asker_id=asker_id)
        await self._tickets.write(ticket, told)


def data_of(interaction: discord.Interaction) -> Mapping[str, Any]:
    return interaction.data or {}


def typed_in(data: Mapping[str, Any]) -> Iterator[str]:
    """The values of a form's fields, in order."""
    for row in data.get("components", []):
        for field in row.get("components", []):
            yield str(field.get("value") or "")
