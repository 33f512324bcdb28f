"""The workspace that the bot token belongs to, and who the bot is in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.calling.calls import TOKEN_REFUSED, error_name, slack_errors, told
from adapters.slack.calling.scopes import granted_in
from rag_core.conversation.key import TenantId
from rag_core.errors import ConfigurationError

OF_AN_ORGANISATION = (
    "SLACK_BOT_TOKEN belongs to an app that was installed for a whole organisation, and Footnote"
    " serves workspaces one by one: install the app in one workspace, and use the token of that."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One installation: its events are ours, its bot's messages are our own."""

    team_id: TenantId
    bot_user_id: str
    bot_id: str
    name: str = ""
    enterprise_id: str = ""
    """The organisation that the workspace belongs to; empty where there is none."""
    granted: frozenset[str] | None = None
    """The scopes of the token; None where Slack has not told them."""


async def identify(client: AsyncWebClient) -> Workspace:
    """Ask Slack who the bot token is; a token that Slack refuses is the operator's to change."""
    with slack_errors(), token_checked("SLACK_BOT_TOKEN"):
        answer = await client.auth_test()
    if answer.get("is_enterprise_install") is True:
        raise ConfigurationError(OF_AN_ORGANISATION)
    return workspace_in(answer)


async def who_is(client: AsyncWebClient) -> Workspace:
    return workspace_in(await client.auth_test())


def workspace_in(answer: AsyncSlackResponse) -> Workspace:
    return Workspace(
        team_id=TenantId(told(answer, "team_id")),
        bot_user_id=told(answer, "user_id"),
        bot_id=str(answer.get("bot_id") or ""),
        name=str(answer.get("team") or ""),
        enterprise_id=str(answer.get("enterprise_id") or ""),
        granted=granted_in(answer.headers),
    )


async def socket_address(client: AsyncWebClient, app_token: str) -> str:
    """Where to connect for Socket Mode; each address opens one socket, once and soon."""
    with slack_errors(), token_checked("SLACK_APP_TOKEN"):
        answer = await client.apps_connections_open(app_token=app_token)
    return told(answer, "url")


@contextmanager
def token_checked(variable: str) -> Iterator[None]:
    try:
        yield
    except SlackApiError as error:
        name = error_name(error)
        if name not in TOKEN_REFUSED:
            raise
        raise ConfigurationError(
            f"Slack refuses {variable} ({name}): set a valid token of the installed app."
        ) from error
