"""The workspace that the bot token belongs to, and who the bot is in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calling.calls import TOKEN_REFUSED, error_name, slack_errors, told
from rag_core.conversation.key import TenantId
from rag_core.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One installation: its events are ours, its bot's messages are our own."""

    team_id: TenantId
    bot_user_id: str
    bot_id: str


async def identify(client: AsyncWebClient) -> Workspace:
    """Ask Slack who the bot token is; a token that Slack refuses is the operator's to change."""
    with slack_errors(), token_checked("SLACK_BOT_TOKEN"):
        return await who_is(client)


async def who_is(client: AsyncWebClient) -> Workspace:
    answer = await client.auth_test()
    return Workspace(
        team_id=TenantId(told(answer, "team_id")),
        bot_user_id=told(answer, "user_id"),
        bot_id=str(answer.get("bot_id") or ""),
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
