"""What Slack tells of people: the language they use it in, and whether they run the workspace."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from adapters.slack.hearing.shapes import part
from adapters.slack.installing.teams import Teams
from rag_core.errors import UpstreamError

KEPT, KEPT_SECONDS = 5_000, 3_600.0
UNKNOWN_SECONDS = 60.0
"""Whom Slack says nothing of is not asked about at each of their messages."""
ASK_SECONDS = 1.0
"""Slack waits for its ack meanwhile: a language is worth no more than that."""
DEFAULT_LOCALE = "en"


@dataclass(frozen=True, slots=True)
class Person:
    """One member, as far as it concerns us."""

    locale: str = DEFAULT_LOCALE
    name: str = ""
    is_admin: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a person, and for how long that holds."""

    person: Person
    until: float


class People:
    """Asks Slack about a person once an hour, and never holds up a question for long."""

    def __init__(self, teams: Teams, *, admins: Collection[str] = ()) -> None:
        self._teams = teams
        self._admins = frozenset(admins)
        self._known: OrderedDict[tuple[str, str], Known] = OrderedDict()

    async def locale_of(self, team_id: str, user_id: str) -> str:
        return (await self._known_or_asked(team_id, user_id)).locale

    async def name_of(self, team_id: str, user_id: str) -> str:
        return (await self._known_or_asked(team_id, user_id)).name

    async def is_admin(self, team_id: str, user_id: str) -> bool:
        """Whoever the settings name, and admins and owners of this workspace, asked anew."""
        if user_id in self._admins:
            return True
        person = await self._asked(team_id, user_id)
        return person is not None and person.is_admin

    def forget(self, user_id: str | None) -> None:
        """Drop what is known of one person, or of everybody."""
        for known in [known for known in self._known if user_id in (None, known[1])]:
            del self._known[known]

    async def _known_or_asked(self, team_id: str, user_id: str) -> Person:
        found = self._known.get((team_id, user_id))
        if found is not None and monotonic() < found.until:
            return found.person
        person = await self._asked(team_id, user_id)
        seconds = UNKNOWN_SECONDS if person is None else KEPT_SECONDS
        known = Known(person or Person(), until=monotonic() + seconds)
        self._known[team_id, user_id] = known
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return known.person

    async def _asked(self, team_id: str, user_id: str) -> Person | None:
        """None where Slack does not say."""
        try:
            team = self._teams.of(team_id)
            if not team.offers("users.info") or not team.budget.take("users.info"):
                return None
            async with asyncio.timeout(ASK_SECONDS):
                answer = await team.call_now("users.info", user=user_id, include_locale=True)
        except (UpstreamError, TimeoutError):
            return None
        return person_in(part(answer, "user"), team.workspace.team_id)


def person_in(user: Mapping[str, Any], team_id: str) -> Person:
    """People of other workspaces in a shared channel may be admins there, not here."""
    ours = user.get("team_id") in {None, team_id} and not user.get("is_stranger")
    profile = part(user, "profile")
    return Person(
        locale=str(user.get("locale") or DEFAULT_LOCALE),
        name=str(profile.get("display_name") or user.get("real_name") or user.get("name") or ""),
        is_admin=ours and bool(user.get("is_admin") or user.get("is_owner")),
    )
