"""Sends an answer to the command that asked for it, and as a message when it is too late."""

from __future__ import annotations

from adapters.discord.acting.asking import CHANNEL, ticket_for
from adapters.discord.answering.parts import is_this_part, post_of
from adapters.discord.answering.places import AnswerPlace
from adapters.discord.gateway.errors import TOKEN_IS_OVER, DiscordRefused
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.gateway.tokens import TicketRest
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart


class TokenReplies:
    """The first part stands where the answer was announced, the others follow below.

    For fifteen minutes; afterwards a message in the channel takes their place, or a direct
    message where only the asker may read it."""

    def __init__(self, rest: DiscordRest, tickets: TicketRest) -> None:
        self._rest = rest
        self._tickets = tickets

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        try:
            return await self._post_by_token(question, part)
        except DiscordRefused as refusal:
            if refusal.code not in TOKEN_IS_OVER:
                raise
        channel_id = await self._open_place(question)
        return await self._rest.send(channel_id, post_of(part), nonce=part.key)

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        """By its token what one person alone sees; later it can only be a direct message."""
        assert part.external_id is not None
        post = post_of(part)
        if question.private:
            try:
                await self._tickets.rewrite(ticket_for(question), part.external_id, post)
            except DiscordRefused as refusal:
                if refusal.code not in TOKEN_IS_OVER:
                    raise
            else:
                return
        place = await self._open_place(question)
        await self._rest.edit(place, part.external_id, post)

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        if question.private:
            try:
                await self._tickets.take_back(ticket_for(question), external_id)
            except DiscordRefused as refusal:
                if refusal.code not in TOKEN_IS_OVER:
                    raise
            else:
                return
        await self._rest.removed(await self._open_place(question), external_id)

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        """Among the messages that we can read: what one person alone saw is not among them."""
        place = AnswerPlace(channel_id=await self._open_place(question))
        for sent in await self._rest.newest(place.channel_id):
            if is_this_part(sent, part, question, place, own_id=self._rest.own_id):
                return sent.id
        return None

    async def _post_by_token(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        ticket, post = ticket_for(question), post_of(part)
        if part.number == 0:
            return await self._tickets.write(ticket, post)
        return await self._tickets.add(ticket, post, private=question.private)

    async def _open_place(self, question: IncomingQuestion) -> str:
        if question.private:
            return await self._rest.open_direct(question.asker_id)
        return question.address[CHANNEL]
