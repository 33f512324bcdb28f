"""The workspaces that the app is installed in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from adapters.slack.calling.team import Team
from adapters.steward import Finding
from rag_core.errors import ConfigurationError, UpstreamError

log = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0


class Teams(Protocol):
    """Finds the workspace that something belongs to."""

    def of(self, team_id: str) -> Team:
        """UpstreamError where the app is not, or not any more."""
        ...

    async def found(self, team_id: str) -> Team:
        """The same, after a look at what was installed just now by another host."""
        ...

    def all(self) -> Sequence[Team]: ...

    @property
    def are_ready(self) -> bool:
        """Whether what comes from Slack can be taken."""
        ...

    @property
    def can_answer(self) -> bool:
        """Whether Slack lets us post anywhere."""
        ...

    def gone(self, team_id: str, *, uninstalled: bool) -> None:
        """Slack says that the app was removed there, or its token taken back."""
        ...

    def findings(self, team_id: str | None = None) -> Sequence[Finding]:
        """What is missing, everywhere or in one workspace."""
        ...

    async def known(self) -> None:
        """Wait until it is known who we are."""
        ...

    async def keep(self) -> None:
        """Look after the tokens until cancelled."""
        ...


class OneTeam:
    """The workspace of the one token in the settings: everything that comes is from there."""

    def __init__(
        self, team: Team, *, retry_seconds: float = 1.0, look_seconds: float = LONGEST_PAUSE
    ) -> None:
        self._team = team
        self._look_seconds = look_seconds
        self._retry_seconds = retry_seconds

    def of(self, team_id: str) -> Team:
        return self._team

    async def found(self, team_id: str) -> Team:
        return self._team

    def all(self) -> Sequence[Team]:
        return [self._team]

    @property
    def are_ready(self) -> bool:
        return self._team.is_ready

    @property
    def can_answer(self) -> bool:
        return self._team.can_answer

    def gone(self, team_id: str, *, uninstalled: bool) -> None:
        self._team.revoked("token_revoked")

    def findings(self, team_id: str | None = None) -> Sequence[Finding]:
        return self._team.findings()

    async def known(self) -> None:
        """While Slack is away, keep trying."""
        pause = self._retry_seconds
        while not await self.identified():
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def identified(self) -> bool:
        """Whether Slack has told us who we are; not while it cannot be reached."""
        if self._team.is_ready:
            return True
        try:
            await self._team.identify()
        except UpstreamError as error:
            log.warning("slack is not reachable", extra={"cause": str(error)})
            return False
        return True

    async def keep(self) -> None:
        """A token of the settings is the operator's to look after; an app that is installed anew
        with more scopes keeps it."""
        while True:
            await asyncio.sleep(self._look_seconds)
            if self._team.lacks_scopes:
                await self._look_again()

    async def _look_again(self) -> None:
        try:
            await self._team.identify()
        except (UpstreamError, ConfigurationError) as error:
            log.info("scopes not read", extra={"cause": str(error)})


def team_id_in(body: Mapping[str, Any]) -> str:
    """Whose installation an event was sent for: in shared channels not the sender's own."""
    authorizations = body.get("authorizations")
    if isinstance(authorizations, list) and authorizations and isinstance(authorizations[0], dict):
        return str(authorizations[0].get("team_id") or "")
    team = body.get("team")
    inner = team.get("id") if isinstance(team, dict) else None
    return str(body.get("team_id") or inner or "")
