"""What becomes of an answer that its channel does not take: a private word, and the admins know."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from time import monotonic

from adapters.discord.answering.places import AnswerPlace
from adapters.discord.answering.post import Post
from adapters.discord.gateway.errors import DiscordRefused
from adapters.discord.gateway.rest import DiscordRest
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

HERE_INSTEAD = "-# I may not write in <#{channel}>, so the answer comes here."
NOT_ALLOWED = (
    "I could not answer in <#{channel}> (Discord's code {code}). `/footnote doctor` shows which"
    " permission is missing."
)
ADMINS_SECONDS = 3_600.0
REMEMBERED = 1_000


class Detours:
    """Brings an answer to its asker in private; where even that is refused, it is given up."""

    def __init__(self, rest: DiscordRest, admin_channels: Mapping[str, str]) -> None:
        self._rest = rest
        self._admin_channels = admin_channels
        self._told: dict[str, float] = {}
        self._taken: OrderedDict[str, str] = OrderedDict()

    def place_of(self, question: IncomingQuestion) -> list[AnswerPlace]:
        """Where this answer went instead, if it did."""
        channel_id = self._taken.get(question.message_id)
        return [AnswerPlace(channel_id=channel_id)] if channel_id else []

    async def post(
        self, question: IncomingQuestion, post: Post, refusal: DiscordRefused, *, nonce: str
    ) -> str:
        await self._tell_admins(question, refusal)
        try:
            channel_id = await self._rest.open_direct(question.asker_id)
            notice = HERE_INSTEAD.format(channel=question.key.channel_id)
            moved = replace(post, content=f"{notice}\n{post.content}")
            sent = await self._rest.send(channel_id, moved, nonce=nonce)
        except DiscordRefused as refused:
            if refused.retryable:
                raise
            raise refusal from refused
        self._taken[question.message_id] = channel_id
        while len(self._taken) > REMEMBERED:
            self._taken.popitem(last=False)
        return sent

    async def _tell_admins(self, question: IncomingQuestion, refusal: DiscordRefused) -> None:
        """Once an hour for a channel, in the log too; best effort."""
        channel_id, tenant = question.key.channel_id, question.key.tenant
        if monotonic() < self._told.get(channel_id, 0.0):
            return
        self._told[channel_id] = monotonic() + ADMINS_SECONDS
        log.warning(
            "an answer was not taken", extra={"channel_id": channel_id, "code": refusal.code}
        )
        admins = self._admin_channels.get(tenant)
        if admins is None:
            return
        sentence = NOT_ALLOWED.format(channel=channel_id, code=refusal.code)
        try:
            await self._rest.send(admins, Post(content=sentence), nonce=f"a{question.message_id}")
        except UpstreamError as error:
            log.warning("the admins could not be told", extra={"cause": str(error)})
