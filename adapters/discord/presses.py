"""What happens when somebody presses a button below an answer, or sends its form."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import discord

from adapters.discord.asking import spot_of
from adapters.discord.buttons import Press, Pressed, read_mark, reason_form
from adapters.discord.errors import UNKNOWN_MESSAGE, DiscordRefused
from adapters.discord.evidence import evidence
from adapters.discord.rest import DiscordRest
from adapters.discord.tokens import TicketRest, ticket_of
from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey, Platform
from rag_core.errors import InvalidQuestion, StorageError, UpstreamError
from rag_core.ports import FeedbackStore

log = logging.getLogger(__name__)

THANKS = "Thank you, noted."
THANKS_FOR_REASON = "Thank you, noted: the people who look after the documents will see it."
NOT_STORED = "This answer is not stored any more."
NOT_SAVED = "I could not reach my database just now. Please try again in a minute."
NOT_YOURS = "Only the person who asked can delete this answer."
NOT_DELETED = "Discord did not let me delete all of this answer. Please try again in a minute."
NOT_KNOWN = "I do not know this button any more."


class KnowsAnswers(Protocol):
    """The ledger, as buttons see it."""

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None: ...

    async def posted_parts(self, answer_id: UUID) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What the buttons below an answer need."""

    answers: KnowsAnswers
    feedback: FeedbackStore


class Presses:
    """Rates, shows evidence and deletes; tells whoever pressed, and nobody else."""

    def __init__(self, review: Review, *, tickets: TicketRest, rest: DiscordRest) -> None:
        self._review = review
        self._tickets = tickets
        self._rest = rest
        self._acts: Mapping[Press, Callable[[discord.Interaction, Pressed], Awaitable[None]]] = {
            Press.HELPFUL: self._helped,
            Press.NOT_HELPFUL: self._did_not_help,
            Press.REASON: self._why,
            Press.EVIDENCE: self._show,
            Press.DELETE: self._delete,
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
        await self._tickets.defer(ticket_of(interaction), private=True)
        told = await self._rate(interaction, pressed, helpful=True)
        await self._tickets.write(ticket_of(interaction), told or THANKS)

    async def _did_not_help(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """The rating counts even if the form is put away; the form has to come first, at once."""
        await self._tickets.ask(ticket_of(interaction), reason_form(pressed.answer_id))
        await self._rate(interaction, pressed, helpful=False)

    async def _why(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        await self._tickets.defer(ticket_of(interaction), private=True)
        reason = next(typed_in(data_of(interaction)), "").strip()
        told = await self._rate(interaction, pressed, helpful=False, reason=reason)
        await self._tickets.write(ticket_of(interaction), told or THANKS_FOR_REASON)

    async def _rate(
        self, interaction: discord.Interaction, pressed: Pressed, *, helpful: bool, reason: str = ""
    ) -> str | None:
        """Nothing, or a sentence on why it did not count."""
        with told_in_words() as problem:
            await self._review.feedback.rate(
                answer_id=pressed.answer_id,
                asker_id=str(interaction.user.id),
                helpful=helpful,
                reason=reason,
            )
        return problem.sentence

    async def _show(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        ticket = ticket_of(interaction)
        await self._tickets.defer(ticket, private=True)
        shown: Sequence[str] = [NOT_STORED]
        with told_in_words() as problem:
            found = await self._review.answers.answer(pressed.answer_id)
            if found is not None and is_from_here(found[1], interaction):
                shown = evidence(found[0])
        first, *more = [problem.sentence] if problem.sentence else shown
        await self._tickets.write(ticket, first)
        for message in more:
            await self._tickets.add(ticket, message, private=True)

    async def _delete(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        ticket = ticket_of(interaction)
        if pressed.owner_id != str(interaction.user.id):
            await self._tickets.say(ticket, NOT_YOURS)
            return
        await self._tickets.settle(ticket)
        channel_id, parts = spot_of(interaction).writes, list[str]()
        with told_in_words() as problem:
            parts += await self._review.answers.posted_parts(pressed.answer_id)
        if problem.sentence:
            await self._tickets.add(ticket, problem.sentence, private=True)
            return
        # The part with the button goes last: as long as it is there, one can press again.
        own = str(interaction.message.id) if interaction.message is not None else None
        ordered = [*(part for part in parts if part != own), *([own] if own else [])]
        try:
            for message_id in ordered:
                await self._remove(channel_id, message_id)
        except UpstreamError as error:
            log.warning("an answer could not be deleted", extra={"cause": str(error)})
            await self._tickets.add(ticket, NOT_DELETED, private=True)

    async def _remove(self, channel_id: str, message_id: str) -> None:
        try:
            await self._rest.delete(channel_id, message_id)
        except DiscordRefused as refusal:
            if refusal.code != UNKNOWN_MESSAGE:
                raise


@dataclass(slots=True)
class Problem:
    """What went wrong, in words for the person; None as long as nothing did."""

    sentence: str | None = None


@contextmanager
def told_in_words() -> Iterator[Problem]:
    problem = Problem()
    try:
        yield problem
    except InvalidQuestion:
        problem.sentence = NOT_STORED
    except StorageError as error:
        log.error("a button did not take effect", extra={"cause": str(error)})
        problem.sentence = NOT_SAVED


def is_from_here(key: ConversationKey, interaction: discord.Interaction) -> bool:
    """No server's button shows what was answered on another one."""
    return key.platform is Platform.DISCORD and key.tenant == spot_of(interaction).tenant


def data_of(interaction: discord.Interaction) -> Mapping[str, Any]:
    return interaction.data or {}


def typed_in(data: Mapping[str, Any]) -> Iterator[str]:
    """The values of a form's fields, in order."""
    for row in data.get("components", []):
        for field in row.get("components", []):
            yield str(field.get("value") or "")
