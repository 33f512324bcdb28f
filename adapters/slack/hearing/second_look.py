"""Messages that asked something lately, looked at again: edited or deleted while we were away."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from adapters.asked_lately import KnowsAskedLately, asked_lately
from adapters.slack.calling.team import Team
from adapters.slack.hearing.events import CHANNEL_TYPE, word
from adapters.slack.hearing.marks import is_timestamp
from rag_core.conversation.key import Platform
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import FootnoteError

log = logging.getLogger(__name__)

GRAVE = "tombstone"
Message = Mapping[str, Any]
Pages = Callable[..., Awaitable[Sequence[Message] | None]]
"""All messages of a place between two moments; None where not all of them could be read."""
Place = tuple[str, str]
"""A channel, and the head of a thread in it or nothing."""


class SecondLook:
    """Tells what happened as Slack would have told it, had somebody listened."""

    def __init__(
        self,
        *,
        known: KnowsAskedLately,
        pages: Pages,
        hears: Callable[[Mapping[str, Any]], Awaitable[None]],
    ) -> None:
        self._known = known
        self._pages = pages
        self._hears = hears

    async def look(self, team: Team, *, away_since: float, kinds: Mapping[str, str]) -> None:
        """At every place in turn; one that cannot be read whole proves nothing."""
        tenant = team.workspace.team_id
        lately = await asked_lately(self._known, Platform.SLACK)
        for (channel, head), asked in by_place(q for q in lately if q.key.tenant == tenant).items():
            try:
                found = await self._stand(channel, head, asked)
                for event in changes(asked, found, away_since) if found is not None else ():
                    kind = kinds.get(channel, "")
                    told = {**event, "type": "message", "channel": channel, CHANNEL_TYPE: kind}
                    await self._hears({"team_id": tenant, "event": told})
            except FootnoteError as error:
                about = {"channel": channel, "cause": type(error).__name__}
                log.warning("questions were not looked at again", extra=about)

    async def _stand(
        self, channel: str, head: str, asked: Sequence[IncomingQuestion]
    ) -> Mapping[str, Message] | None:
        times = [question.message_id for question in asked]
        span = {"oldest": min(times), "latest": max(times), "inclusive": True}
        if head:
            page = await self._pages("conversations.replies", channel=channel, ts=head, **span)
        else:
            page = await self._pages("conversations.history", channel=channel, **span)
        return None if page is None else {word(message, "ts"): message for message in page}


def by_place(
    questions: Iterable[IncomingQuestion],
) -> Mapping[Place, Sequence[IncomingQuestion]]:
    """Replies are read with their thread, everything else with its channel."""
    places: defaultdict[Place, list[IncomingQuestion]] = defaultdict(list)
    for question in questions:
        if is_timestamp(question.message_id):
            head = question.key.thread_id
            is_reply = head != question.message_id
            places[question.key.channel_id, head if is_reply else ""].append(question)
    return places


def changes(
    asked: Sequence[IncomingQuestion], found: Mapping[str, Message], away_since: float
) -> Iterable[Message]:
    """The events that were missed. An edit from before that was heard when it was made."""
    for question in asked:
        message = found.get(question.message_id)
        if message is None or word(message, "subtype") == GRAVE:
            yield {"subtype": "message_deleted", "deleted_ts": question.message_id}
        elif edited_at(message) > away_since:
            before = {**message, "text": ""}
            yield {"subtype": "message_changed", "message": message, "previous_message": before}


def edited_at(message: Message) -> float:
    edited = message.get("edited")
    ts = word(edited, "ts") if isinstance(edited, Mapping) else ""
    return float(ts) if is_timestamp(ts) else 0.0
