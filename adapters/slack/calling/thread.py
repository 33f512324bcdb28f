"""What stands in a thread, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from adapters.slack.calling.calls import SERVICE
from adapters.slack.calling.team import Team
from adapters.slack.hearing.shapes import part, parts
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamRejected

PAGE = 200

Message = Mapping[str, Any]


async def pages_of(
    team: Team, question: IncomingQuestion, *, most: int, **bounds: Any
) -> AsyncIterator[Sequence[Message]]:
    """What stands in the thread of a question, the oldest first; UpstreamRejected where there is
    more than so many pages."""
    cursor: str | None = None
    for _ in range(most):
        page = await team.call_soon(
            "conversations.replies",
            channel=question.key.channel_id,
            ts=question.key.thread_id,
            limit=PAGE,
            cursor=cursor,
            **bounds,
        )
        yield parts(page, "messages")
        cursor = part(page, "response_metadata").get("next_cursor")
        if not cursor:
            return
    raise UpstreamRejected(SERVICE, "the thread is too long to be read")
