"""Tries the app's tokens by asking Slack who they are: no socket is opened."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calling.calls import client_on, open_client, slack_errors
from adapters.slack.calling.scopes import bot_scopes, granted_in
from adapters.slack.calling.team import reason_of
from adapters.slack.calling.troubles import Troubles
from adapters.slack.config import InstallConfig, SlackConfig, install_address
from adapters.slack.installing.grants import ACCESS
from adapters.slack.installing.workspace import socket_address, token_checked
from adapters.steward import Finding
from rag_core.conversation.installation import Installation
from rag_core.conversation.key import Platform
from rag_core.errors import ConfigurationError, UpstreamRejected
from rag_core.ports import InstallationStore

TRIAL_SECONDS = 8.0
MOST = 10
SECRET_SHAPE = re.compile(r"[0-9a-f]{32}")


async def tried(config: SlackConfig, store: InstallationStore | None = None) -> Sequence[Finding]:
    """What each token is good for; UpstreamError where Slack does not answer."""
    async with open_client(replace(config, request_seconds=TRIAL_SECONDS)) as client:
        if config.install is None:
            found = [finding async for finding in bot_token(client)]
        else:
            found = await every_workspace(client, config.install, store)
        if config.app_token:
            found.append(await app_token(client, config.app_token))
    if config.signing_secret:
        found.append(signing_secret(config.signing_secret))
    return found


async def bot_token(client: AsyncWebClient) -> AsyncIterator[Finding]:
    """Whose it is, and whether the app was installed with all that it uses."""
    name = "slack token"
    try:
        with slack_errors(), token_checked("SLACK_BOT_TOKEN"):
            answer = await client.auth_test()
    except ConfigurationError as error:
        advice = "Copy the bot token from the app's page OAuth & Permissions, and start again."
        yield Finding(name=name, in_place=False, detail=str(error), advice=advice)
        return
    yield Finding(name=name, in_place=True, detail=f"belongs to a bot of {answer.get('team')}.")
    yield scopes(answer.headers)


async def every_workspace(
    client: AsyncWebClient, install: InstallConfig, store: InstallationStore | None
) -> list[Finding]:
    """Of each that let the app in, as many as can be asked in a moment."""
    stored = await store.all(Platform.SLACK) if store is not None else []
    readable = [each for each in stored if isinstance(each, Installation)]
    found = [await in_one(client, each, install) for each in readable[:MOST]]
    if len(readable) > MOST:
        detail = f"{len(readable) - MOST} more have the app; their tokens were not tried."
        found.append(Finding(name="slack workspaces", in_place=True, detail=detail))
    return found


async def in_one(
    client: AsyncWebClient, installation: Installation, install: InstallConfig
) -> Finding:
    assert client.session is not None
    name = f"slack {installation.name} ({installation.tenant})"
    own = client_on(client.session, base_url=client.base_url, token=installation.tokens[ACCESS])
    try:
        with slack_errors():
            answer = await own.auth_test()
    except UpstreamRejected as error:
        if error.retryable:
            raise
        detail = f"Slack refuses its token ({reason_of(error)})."
        advice = f"Install the app there anew: {install_address(install)}"
        return Finding(name=name, in_place=False, detail=detail, advice=advice)
    granted = scopes(answer.headers)
    return replace(granted, name=name, detail=f"the token is good; scopes {granted.detail}")


def scopes(headers: Mapping[str, str]) -> Finding:
    """What the app was granted, against what its manifest asks for."""
    granted = granted_in(headers)
    if granted is None:
        return Finding(name="slack scopes", in_place=True, detail="are not told by this Slack.")
    if lacking := [scope for scope in bot_scopes() if scope not in granted]:
        return Troubles().lacking(lacking)
    return Finding(name="slack scopes", in_place=True, detail="are all granted.")


async def app_token(client: AsyncWebClient, token: str) -> Finding:
    name = "slack app token"
    try:
        await socket_address(client, token)
    except (ConfigurationError, UpstreamRejected) as error:
        advice = "Make an app-level token with the scope connections:write on Basic Information."
        return Finding(name=name, in_place=False, detail=str(error), advice=advice)
    return Finding(name=name, in_place=True, detail="opens sockets.")


def signing_secret(listed: str) -> Finding:
    """Whether it looks like one: Slack tells nobody more than that."""
    secrets = [each.strip() for each in listed.split(",")]
    fits = all(SECRET_SHAPE.fullmatch(each) for each in secrets)
    detail = "has the usual shape." if fits else "is not 32 digits and letters from a to f."
    advice = "Copy the signing secret from Basic Information into SLACK_SIGNING_SECRET."
    return Finding(name="slack signing secret", in_place=fits, detail=detail, advice=advice)
