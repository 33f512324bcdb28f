"""The workspaces that the app is installed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from adapters.slack.team import Team


class Teams(Protocol):
    """Finds the workspace that something belongs to."""

    def of(self, team_id: str) -> Team:
        """UpstreamError where the app is not, or not any more."""
        ...

    def all(self) -> Sequence[Team]: ...


class OneTeam:
    """The workspace of the one token in the settings: everything that comes is from there."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def of(self, team_id: str) -> Team:
        return self._team

    def all(self) -> Sequence[Team]:
        return [self._team]


def team_id_in(body: Mapping[str, Any]) -> str:
    """Whose installation an event was sent for: in shared channels not the sender's own."""
    authorizations = body.get("authorizations")
    if isinstance(authorizations, list) and authorizations and isinstance(authorizations[0], dict):
        return str(authorizations[0].get("team_id") or "")
    team = body.get("team")
    inner = team.get("id") if isinstance(team, dict) else None
    return str(body.get("team_id") or inner or "")
