"""Tokens that may be of no use any more, until Slack itself has said so or otherwise."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

from adapters.slack.calling.calls import TOKEN_REFUSED, slack_errors
from adapters.slack.calling.scopes import granted_in
from adapters.slack.calling.team import RUN_OUT, Team, reason_of
from adapters.slack.config import InstallConfig
from rag_core.conversation.key import TenantId
from rag_core.errors import UpstreamError, UpstreamRejected

log = logging.getLogger(__name__)

GONE = frozenset({"account_inactive", "token_revoked"})
"""What Slack says of the token of an app that was removed; other refusals may be a mistake."""
FINE, SILENT = "", "?"
AT_ONCE = 20


@dataclass(slots=True)
class Doubt:
    """One workspace, and what Slack has told of it."""

    team: Team
    since: float
    told: bool = False
    """Slack has sent word that the app was removed or the token revoked."""
    uninstalled: bool = False


class Doubts:
    """Asks with the token before anything is removed.

    Slack's word on a removal may come late, after the app was installed again, or a moment before
    the token really ends; so the token is tried until it is refused, or has held for long."""

    def __init__(
        self,
        config: InstallConfig,
        *,
        leave: Callable[[TenantId, bool], Awaitable[None]],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._config = config
        self._leave = leave
        self._clock = clock
        self._open: dict[TenantId, Doubt] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    def told(self, tenant: TenantId, team: Team, *, uninstalled: bool) -> None:
        doubt = self._doubt(tenant, team)
        if not doubt.told:
            doubt.told, doubt.since = True, self._clock()
        doubt.uninstalled = doubt.uninstalled or uninstalled

    def asked(self, tenant: TenantId, team: Team) -> None:
        self._doubt(tenant, team)

    def drop(self, tenant: TenantId) -> None:
        self._open.pop(tenant, None)

    def _doubt(self, tenant: TenantId, team: Team) -> Doubt:
        return self._open.setdefault(tenant, Doubt(team, self._clock()))

    async def settle(self) -> None:
        """One look at each, those that Slack has told of first."""
        in_order = sorted(self._open.items(), key=lambda item: not item[1].told)
        for tenant, doubt in in_order[:AT_ONCE]:
            said = await answer_of(doubt.team)
            if self._open.get(tenant) is not doubt:
                continue  # it was installed anew meanwhile
            if said == SILENT and not doubt.told:
                return  # Slack is away: the others would be asked in vain
            await self._judge(tenant, doubt, said)

    async def _judge(self, tenant: TenantId, doubt: Doubt, said: str) -> None:
        is_late = self._clock() - doubt.since >= self._config.doubt_seconds
        if said in GONE or (doubt.told and (said not in {FINE, SILENT} or is_late)):
            if said == FINE:
                log.info("a removed app was installed again", extra={"tenant": tenant})
            else:
                await self._leave(tenant, doubt.uninstalled)
        elif doubt.told:
            return  # asked again in a moment
        elif said not in {FINE, RUN_OUT}:
            doubt.team.revoked(said)
        elif said == FINE and not doubt.team.is_ready:
            doubt.team.renewed(doubt.team.client.token or "")
        self.drop(tenant)


async def answer_of(team: Team) -> str:
    """How Slack refuses the token; empty where it takes it."""
    try:
        with slack_errors():
            answer = await team.client.auth_test()
    except UpstreamRejected as error:
        reason = reason_of(error)
        return reason if reason in TOKEN_REFUSED else SILENT
    except UpstreamError:
        return SILENT
    if (granted := granted_in(answer.headers)) is not None:
        team.learn_scopes(granted)
    return FINE
