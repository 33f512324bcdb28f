"""The app's Home tab: what it knows, how to ask, and what one asked lately."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from adapters.excerpts import one_line
from adapters.slack.acting.house_keeping import book_line, finding_line, gap_line, job_line
from adapters.slack.answering.blocks import Block, section
from adapters.slack.answering.markdown import escaped
from adapters.slack.calling.people import People
from adapters.slack.config import CommandNames
from adapters.slack.hearing.shapes import part
from adapters.slack.installing.teams import Teams, team_id_in
from adapters.steward import Steward
from rag_core.books.book import Book
from rag_core.books.policy import Place
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import FootnoteError

log = logging.getLogger(__name__)

PUBLISH = "views.publish"
RECENT = 5
MAX_ASKED = 140
MAX_LINES = 2_900


class KnowsAsked(Protocol):
    """What a person asked here lately, as the ledger knows it."""

    async def asked_by(
        self, *, platform: Platform, tenant: TenantId, asker_id: str, limit: int
    ) -> Sequence[str]: ...


class Home:
    """Publishes the tab anew whenever somebody opens it."""

    def __init__(
        self,
        *,
        teams: Teams,
        names: CommandNames,
        people: People,
        steward: Steward | None,
        asked: KnowsAsked | None,
    ) -> None:
        self._teams = teams
        self._names = names
        self._people = people
        self._steward = steward
        self._asked = asked

    async def opened(self, body: Mapping[str, Any]) -> None:
        event = part(body, "event")
        team, user = self._teams.of(team_id_in(body)), str(event.get("user") or "")
        if event.get("tab") != "home" or not user or not team.offers(PUBLISH):
            return
        tenant = team.workspace.team_id
        try:
            blocks = [*self._how(), *await self._what(tenant), *await self._own(tenant, user)]
            if await self._people.is_admin(tenant, user):
                blocks += await self._for_admins(tenant)
        except FootnoteError as error:
            log.warning("home is shown in part", extra={"cause": type(error).__name__})
            blocks = self._how()
        await team.call(PUBLISH, user_id=user, view={"type": "home", "blocks": blocks})

    def _how(self) -> list[Block]:
        lines = [
            "Mention me in a channel, or write to me here: I answer from the documents, with"
            " footnotes that lead to the exact place.",
            f"`{self._names.ask}` answers for you alone, `{self._names.lookup}` finds passages,"
            f" `{self._names.house}` has the rest.",
        ]
        return headed("How to ask", lines)

    async def _what(self, tenant: TenantId) -> list[Block]:
        known: Sequence[Book] = []
        if self._steward is not None:
            known = await self._steward.books(workspace_of(tenant))
        return headed("What I know", list(map(book_line, known)) or ["There is no book yet."])

    async def _own(self, tenant: TenantId, user: str) -> list[Block]:
        if self._asked is None:
            return []
        asked = await self._asked.asked_by(
            platform=Platform.SLACK, tenant=tenant, asker_id=user, limit=RECENT
        )
        lines = [f"• {escaped(one_line(text, MAX_ASKED))}" for text in asked]
        return headed("What you asked lately", lines or ["Nothing yet."])

    async def _for_admins(self, tenant: TenantId) -> list[Block]:
        if self._steward is None:
            return []
        found = await self._steward.findings(workspace_of(tenant))
        wrong = [finding_line(f) for f in found if f.needs_attention]
        gaps = await self._steward.gaps(workspace_of(tenant))
        jobs = await self._steward.jobs(workspace_of(tenant))
        return [
            {"type": "divider"},
            *headed("What needs attention", wrong or ["Everything is in place."]),
            *headed("Asked in vain", [gap_line(g) for g in gaps[:RECENT]] or ["Nothing."]),
            *headed("Last jobs", [job_line(j) for j in jobs[:RECENT]] or ["None."]),
        ]


def workspace_of(tenant: TenantId) -> Place:
    """The tab stands in no channel: what holds in the whole workspace holds there."""
    return Place(platform=Platform.SLACK, tenant=tenant)


def headed(title: str, lines: Sequence[str]) -> list[Block]:
    """A heading with its lines; what a block cannot hold is left out."""
    text = ""
    for line in lines:
        if len(text) + len(line) + 1 <= MAX_LINES:
            text = f"{text}\n{line}".strip()
    return [
        {"type": "header", "text": {"type": "plain_text", "text": title}},
        section(text or "…"),
    ]
