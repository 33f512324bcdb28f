"""What askers do to a question after they have asked it: edit, delete, take back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import discord

from adapters.discord.answering.lines import Lines
from adapters.discord.gateway.patience import in_hand
from adapters.discord.hearing.channels import spot_in
from adapters.discord.hearing.entrance import Entrance
from adapters.discord.hearing.events import Heard
from adapters.never_mind import LastAsked
from adapters.platform import RevisesQuestions
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity


class Afterthoughts:
    """Tells the desk, which knows whether it ever was a question; what stood there goes."""

    def __init__(
        self,
        *,
        desk: RevisesQuestions,
        entrance: Entrance,
        lines: Lines,
        pauses: tuple[float, ...],
    ) -> None:
        self._desk = desk
        self._entrance = entrance
        self._lines = lines
        self._pauses = pauses
        self._last = LastAsked()

    def asked(self, question: IncomingQuestion) -> None:
        self._last.remember(question)

    def forget(self, asker_id: str | None) -> None:
        self._last.forget(asker_id)

    async def edited(
        self, message_id: str, question: Callable[[], Awaitable[IncomingQuestion]]
    ) -> None:
        async def revise() -> None:
            await self._desk.revise(await question())

        await self._entrance.has_come(message_id)
        await in_hand(revise, pauses=self._pauses, message_id=message_id)

    async def deleted(self, channel: Any, message_ids: Iterable[int]) -> None:
        spot = spot_in(channel)
        if spot is None:
            return
        for message_id in message_ids:
            await self.withdrawn(spot.identity_of(message_id))

    async def never_mind(self, message: discord.Message, heard: Heard) -> None:
        """In reply to a question that question, else the last one of the asker there."""
        asker_id = heard.question.asker_id
        referenced = message.reference.message_id if message.reference is not None else None
        if referenced is not None:
            meant: MessageIdentity | None = heard.spot.identity_of(referenced)
        else:
            meant = self._last.taken_back(heard.question)
        if meant is not None:
            await self.withdrawn(meant, asker_id=asker_id)

    async def withdrawn(self, identity: MessageIdentity, *, asker_id: str | None = None) -> None:
        async def withdraw() -> None:
            if await self._desk.withdraw(identity, asker_id=asker_id):
                await self._lines.clear(identity.message_id)

        await self._entrance.has_come(identity.message_id)
        await in_hand(withdraw, pauses=self._pauses, message_id=identity.message_id)
