"""What Slack hands over when a workspace lets the app in, and when a token is renewed."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calling.calls import SERVICE, slack_errors
from adapters.slack.config import InstallConfig, redirect_uri
from adapters.slack.installing.workspace import Workspace
from rag_core.conversation.installation import Installation
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import UpstreamUnavailable

ACCESS, REFRESH = "access", "refresh"
BOT_USER, BOT, ENTERPRISE = "bot_user_id", "bot_id", "enterprise_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Slack's answer to a code, as far as it concerns us."""

    team_id: str
    name: str
    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires_in: int | None = None
    for_organisation: bool = False


class Granter:
    """Asks with the app's own id and secret, which belong to no workspace."""

    def __init__(self, client: AsyncWebClient, config: InstallConfig) -> None:
        self._client = client
        self._config = config

    async def granted(self, code: str) -> Grant:
        """What a code is exchanged for, once; UpstreamRejected where Slack does not take it."""
        return grant_in(await self._access(code=code, redirect_uri=redirect_uri(self._config)))

    async def renewed(self, installation: Installation) -> Installation:
        """With its next token; the one before holds until its own end."""
        grant = grant_in(
            await self._access(
                grant_type="refresh_token", refresh_token=installation.tokens[REFRESH]
            )
        )
        return replace(
            installation, tokens=tokens_of(grant), expires_at=end_of(grant, datetime.now(UTC))
        )

    async def _access(self, **arguments: str) -> Mapping[str, Any]:
        own = f"{self._config.client_id}:{self._config.client_secret}".encode()
        proof = {"Authorization": f"Basic {b64encode(own).decode()}"}
        with slack_errors():
            answer = await self._client.api_call("oauth.v2.access", data=arguments, headers=proof)
        return answer.data if isinstance(answer.data, dict) else {}


def grant_in(answer: Mapping[str, Any]) -> Grant:
    """Slack's answer, checked: what is no bot's token is of no use to us."""
    team = answer.get("team")
    team = team if isinstance(team, Mapping) else {}
    for_organisation = bool(answer.get("is_enterprise_install"))
    access, lasts = answer.get("access_token"), answer.get("expires_in")
    if not isinstance(access, str) or not access or answer.get("token_type") != "bot":
        raise UpstreamUnavailable(SERVICE, "an answer without a bot's token")
    if not for_organisation and not team.get("id"):
        raise UpstreamUnavailable(SERVICE, "an answer without a workspace")
    return Grant(
        team_id=str(team.get("id") or ""),
        name=str(team.get("name") or team.get("id") or ""),
        access=access,
        refresh=str(answer.get("refresh_token") or ""),
        expires_in=lasts if isinstance(lasts, int) and lasts > 0 else None,
        for_organisation=for_organisation,
    )


def installed(grant: Grant, workspace: Workspace, *, at: datetime) -> Installation:
    return Installation(
        platform=Platform.SLACK,
        tenant=TenantId(grant.team_id),
        name=grant.name,
        facts={
            BOT_USER: workspace.bot_user_id,
            BOT: workspace.bot_id,
            ENTERPRISE: workspace.enterprise_id,
        },
        tokens=tokens_of(grant),
        installed_at=at,
        expires_at=end_of(grant, at),
    )


def workspace_of(installation: Installation) -> Workspace:
    return Workspace(
        team_id=installation.tenant,
        bot_user_id=installation.facts[BOT_USER],
        bot_id=installation.facts[BOT],
        name=installation.name,
        enterprise_id=installation.facts.get(ENTERPRISE, ""),
    )


def tokens_of(grant: Grant) -> dict[str, str]:
    return {ACCESS: grant.access, **({REFRESH: grant.refresh} if grant.refresh else {})}


def end_of(grant: Grant, at: datetime) -> datetime | None:
    return None if grant.expires_in is None else at + timedelta(seconds=grant.expires_in)
