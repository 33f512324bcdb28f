"""An answer whose channel takes nothing from us: it goes to who asked, in a direct message."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from adapters.slack.answering.own_posts import marked_as
from adapters.slack.calling.calls import CHANNEL_CLOSED
from adapters.slack.calling.team import reason_of
from adapters.slack.installing.teams import Teams
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.errors import PlaceRefused, UpstreamRejected

log = logging.getLogger(__name__)

DIRECT = "direct:"
"""What the id of a message begins with that went there instead, before channel and timestamp."""
HERE_INSTEAD = "I can't write in <#{channel}>, so here's your answer."
MOST_BLOCKS = 50
REMEMBERED = 1_000


class Detour:
    """Tried once for a part; where even that is refused, the answer is given up."""

    def __init__(self, teams: Teams) -> None:
        self._teams = teams
        self._taken: OrderedDict[tuple[str, str], PlaceRefused] = OrderedDict()

    def reason_for(self, question: IncomingQuestion) -> PlaceRefused | None:
        """Why earlier parts of this answer went this way, if they did."""
        return self._taken.get((question.key.channel_id, question.message_id))

    async def post(
        self, question: IncomingQuestion, part: OutgoingPart, refusal: PlaceRefused
    ) -> str:
        """The id of the direct message; raises the refusal where there is no such way."""
        channel, payload = question.key.channel_id, json.loads(part.payload)
        if not leads_elsewhere(question, refusal) or "file" in payload:
            raise refusal
        message = {"text": payload["text"], "blocks": payload.get("blocks", [])}
        if part.number == 0:
            message = announced(message, HERE_INSTEAD.format(channel=channel))
        team = self._teams.of(question.key.tenant)
        try:
            direct, ts = await team.post_direct(
                user=question.asker_id, metadata=marked_as(part.key), **message
            )
        except UpstreamRejected as refused:
            if refused.retryable:
                raise
            raise refusal from refused
        log.info("answer sent in private", extra={"channel": channel, "cause": str(refusal)})
        self._taken[channel, question.message_id] = refusal
        while len(self._taken) > REMEMBERED:
            self._taken.popitem(last=False)
        return f"{DIRECT}{direct}/{ts}"


def leads_elsewhere(question: IncomingQuestion, refusal: PlaceRefused) -> bool:
    """Not where the app itself is refused, nor where it was asked in private already."""
    return reason_of(refusal) in CHANNEL_CLOSED and not question.key.channel_id.startswith("D")


def announced(message: Mapping[str, Any], notice: str) -> dict[str, Any]:
    """The message below a line that says why it stands here."""
    blocks = list(message["blocks"])
    if blocks and len(blocks) < MOST_BLOCKS:
        line = {"type": "context", "elements": [{"type": "mrkdwn", "text": notice}]}
        blocks.insert(0, line)
    return {"text": f"{notice}\n\n{message['text']}", "blocks": blocks}


def standing_in(channel: str, external_id: str) -> tuple[str, str]:
    """The channel that a message stands in, and its timestamp there."""
    if not external_id.startswith(DIRECT):
        return channel, external_id
    direct, _, ts = external_id.removeprefix(DIRECT).partition("/")
    return direct, ts
