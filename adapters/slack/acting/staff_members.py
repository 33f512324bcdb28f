"""Who is staff in a workspace: members whom the settings name, those of user groups, and admins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from time import monotonic

from adapters.slack.calling.people import People
from adapters.slack.installing.teams import Teams
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

METHOD = "usergroups.users.list"
KEPT_SECONDS = 600.0
ASK_SECONDS = 1.0
"""Slack waits for its ack meanwhile."""


class StaffMembers:
    """Asks Slack who belongs to a group every ten minutes; where it does not say, what it said
    before holds."""

    def __init__(
        self,
        staff: Collection[str],
        *,
        people: People,
        teams: Teams,
        kept_seconds: float = KEPT_SECONDS,
    ) -> None:
        self._named = frozenset(staff)
        self._groups = sorted(each for each in self._named if is_group(each))
        self._people = people
        self._teams = teams
        self._kept_seconds = kept_seconds
        self._known: dict[tuple[str, str], tuple[float, frozenset[str]]] = {}

    async def include(self, team_id: str, user_id: str) -> bool:
        if user_id in self._named:
            return True
        for group in self._groups:
            if user_id in await self._members(team_id, group):
                return True
        return await self._people.is_admin(team_id, user_id)

    def forget(self) -> None:
        """Drop who belongs to the groups; it is asked anew."""
        self._known.clear()

    async def _members(self, team_id: str, group: str) -> frozenset[str]:
        asked_at, members = self._known.get((team_id, group), (float("-inf"), frozenset[str]()))
        if monotonic() - asked_at < self._kept_seconds:
            return members
        told = await self._asked(team_id, group)
        if told is None:
            return members
        self._known[team_id, group] = (monotonic(), told)
        return told

    async def _asked(self, team_id: str, group: str) -> frozenset[str] | None:
        """None where Slack does not say: a missing scope is told by the doctor."""
        try:
            team = self._teams.of(team_id)
            if not team.offers(METHOD) or not team.budget.take(METHOD):
                return None
            async with asyncio.timeout(ASK_SECONDS):
                answer = await team.call_now(METHOD, usergroup=group)
        except (UpstreamError, TimeoutError) as error:
            log.info("the members of a group are not told", extra={"cause": str(error)})
            return None
        users = answer.get("users")
        return frozenset(str(user) for user in users) if isinstance(users, list) else None


def is_group(name: str) -> bool:
    """Slack's ids say what they name."""
    return name.startswith("S")
