"""The assistant pane: questions to begin with, and a title for each thread."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from adapters.excerpts import one_line
from adapters.slack.calling.team import Team
from adapters.slack.hearing.shapes import part
from adapters.slack.installing.teams import Teams, team_id_in
from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform, TenantId
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import FootnoteError, UpstreamError
from rag_core.ports import MarkerStore
from rag_core.text.visible import visible

log = logging.getLogger(__name__)

PROMPTS, TITLE = "assistant.threads.setSuggestedPrompts", "assistant.threads.setTitle"
MAX_PROMPTS = 4
MAX_TITLE = 80
FALLBACK = ("What can you help me with?",)
HEADING = "Ask me something about the documents:"


class ChoosesBooks(Protocol):
    """Knows which books a channel reads, as the library does."""

    async def books_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str
    ) -> BookIds | None: ...


class Starters(Protocol):
    """Questions that the books can answer, for somebody's first visit."""

    async def of(self, books: BookIds) -> Sequence[str]: ...


class Pane:
    """Greets in a new thread of the pane, and names the thread after its first question."""

    def __init__(
        self,
        *,
        teams: Teams,
        markers: MarkerStore,
        library: ChoosesBooks | None,
        starters: Starters | None,
    ) -> None:
        self._teams = teams
        self._markers = markers
        self._library = library
        self._starters = starters

    async def opened(self, body: Mapping[str, Any]) -> None:
        """Somebody opened a thread of the pane."""
        thread = part(body, "event", "assistant_thread")
        channel, ts = str(thread.get("channel_id") or ""), str(thread.get("thread_ts") or "")
        team = self._teams.of(team_id_in(body))
        if not channel or not ts:
            return
        await self._markers.set(_name(team.workspace.team_id, channel, ts), "opened")
        if team.offers(PROMPTS):
            await self._propose(team, channel, ts)

    async def asked(self, question: IncomingQuestion) -> None:
        """A question that may be a thread's first; best effort."""
        key = question.key
        name = _name(key.tenant, key.channel_id, key.thread_id)
        team = self._teams.of(key.tenant)
        try:
            if await self._markers.get(name) != "opened" or not team.offers(TITLE):
                return
            await self._markers.set(name, "titled")
            await team.call(
                TITLE,
                channel_id=key.channel_id,
                thread_ts=key.thread_id,
                title=title_of(question.question.message),
            )
        except UpstreamError as error:
            log.info("a thread has no title", extra={"cause": str(error)})

    async def _propose(self, team: Team, channel: str, ts: str) -> None:
        starters = await self._starters_for(team.workspace.team_id, channel)
        await team.call(
            PROMPTS,
            channel_id=channel,
            thread_ts=ts,
            title=HEADING,
            prompts=[{"title": title_of(text), "message": text} for text in starters[:MAX_PROMPTS]],
        )

    async def _starters_for(self, tenant: TenantId, channel: str) -> Sequence[str]:
        if self._library is None or self._starters is None:
            return FALLBACK
        try:
            books = await self._library.books_for(
                platform=Platform.SLACK, tenant=tenant, channel_id=channel
            )
            return (await self._starters.of(books) if books else ()) or FALLBACK
        except FootnoteError as error:
            log.info("no starters", extra={"cause": str(error)})
            return FALLBACK


def title_of(text: str) -> str:
    return one_line(visible(text), MAX_TITLE)


def _name(tenant: str, channel: str, ts: str) -> str:
    return f"slack:pane:{tenant}:{channel}:{ts}"
