"""Words that one person sees alone."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from adapters.slack.calling.calls import SERVICE
from adapters.slack.calling.hosts import is_slacks_own
from adapters.slack.hearing.shapes import id_in, part
from adapters.slack.installing.teams import Teams
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.errors import UpstreamError, UpstreamRejected, UpstreamUnavailable

log = logging.getLogger(__name__)

RESPONSE_URL = "response_url"
"""Where in a question's address the way back to its command stands."""
GOOD_FOR = timedelta(minutes=29)
USES = 5
"""Slack takes five answers in half an hour at such an address."""
WHISPERED = "whispered"
"""The id of a message that cannot be named again."""


class Whispers:
    """Answers a command or a press, where only the person who used it can see it."""

    def __init__(self, *, teams: Teams, session: aiohttp.ClientSession, api_base: str) -> None:
        self._teams = teams
        self._api_base = api_base
        self._session = session

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        """By the command's own address while it holds, else in a direct message."""
        payload = json.loads(part.payload)
        message: dict[str, Any] = {"text": payload["text"], "blocks": payload.get("blocks", [])}
        url = question.address.get(RESPONSE_URL, "")
        fresh = datetime.now(UTC) - question.heard_at < GOOD_FOR
        if url and fresh and part.number < USES:
            try:
                await self.respond(url, **message)
            except UpstreamRejected as error:
                log.info("a command's address is used up", extra={"cause": str(error)})
            else:
                return WHISPERED
        team = self._teams.of(question.key.tenant)
        return await team.post(channel=question.asker_id, **message)

    async def respond(self, url: str, *, replaces: bool = False, **message: Any) -> None:
        """Say something at a response address; what it belongs to may be replaced."""
        body = {"response_type": "ephemeral", "replace_original": replaces, **message}
        await self._send(url, body)

    async def take_back(self, url: str) -> None:
        """Remove the message that the pressed button stands below."""
        await self._send(url, {"delete_original": True})

    async def _send(self, url: str, body: Mapping[str, Any]) -> None:
        if not is_slacks_own(url, self._api_base):
            raise UpstreamRejected(SERVICE, "a response address that is not Slack's")
        try:
            async with self._session.post(url, json=body) as response:
                status = response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UpstreamUnavailable(SERVICE, type(error).__name__) from error
        if status >= 500:
            raise UpstreamUnavailable(SERVICE, "no usable answer")
        if status != 200:
            raise UpstreamRejected(SERVICE, f"status {status} at a response address")

    async def tell(
        self, body: Mapping[str, Any], text: str, blocks: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Tell who pressed a button, where the button stands; best effort."""
        try:
            await self._tell(body, text, blocks)
        except UpstreamError as error:
            log.info("a word did not reach a person", extra={"cause": str(error)})

    async def _tell(
        self, body: Mapping[str, Any], text: str, blocks: Sequence[Mapping[str, Any]]
    ) -> None:
        message: dict[str, Any] = {"text": text, **({"blocks": blocks} if blocks else {})}
        url = str(body.get("response_url") or "")
        if not part(body, "container").get("is_ephemeral") and part(body, "message"):
            try:
                await self._whisper(body, message)
            except UpstreamError:
                if not url:
                    raise
            else:
                return
        await self.respond(url, **message)

    async def _whisper(self, body: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        """In the thread of the message that the button stands below."""
        team, message_of = self._teams.of(id_in(body, "team")), part(body, "message")
        await team.call(
            "chat.postEphemeral",
            channel=id_in(body, "channel"),
            user=id_in(body, "user"),
            thread_ts=message_of.get("thread_ts"),
            **message,
        )
