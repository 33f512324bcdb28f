"""Slack as a platform: opened with its tokens checked, heard over Socket Mode or HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.answered_threads import AnsweredThreads
from adapters.platform import AcceptsQuestions
from adapters.slack.calls import open_client
from adapters.slack.config import SlackConfig
from adapters.slack.envelope import dispatch
from adapters.slack.http import SignedEvents
from adapters.slack.listener import Listener, bolt_app
from adapters.slack.pace import Pace
from adapters.slack.renderer import SlackRenderer
from adapters.slack.reply import SlackReplies
from adapters.slack.socket import SlackSocket
from adapters.slack.workspace import identify, socket_address
from rag_core.conversation.key import Platform
from rag_core.ports import MarkerStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPlatform:
    """One workspace that the bot hears and answers in."""

    renderer: SlackRenderer
    replies: SlackReplies
    socket: SlackSocket | None
    events: SignedEvents | None
    """An ASGI app for /slack/events, where a signing secret is set."""

    @property
    def platform(self) -> Platform:
        return Platform.SLACK

    @property
    def is_ready(self) -> bool:
        return self.socket is None or self.socket.is_ready

    async def run(self) -> None:
        if self.socket is None:  # what comes over HTTP is heard by the web process
            await asyncio.Event().wait()
        else:
            await self.socket.run()


@asynccontextmanager
async def open_slack(
    config: SlackConfig, *, desk: AcceptsQuestions, markers: MarkerStore
) -> AsyncIterator[SlackPlatform]:
    """Check the tokens, then offer the workspace. A refused token is a ConfigurationError."""
    async with open_client(config) as client:
        workspace = await identify(client)
        threads = AnsweredThreads(markers)
        listener = Listener(desk=desk, threads=threads, workspace=workspace)
        app = bolt_app(listener, workspace=workspace, client=client)
        yield SlackPlatform(
            renderer=SlackRenderer(),
            replies=SlackReplies(
                client=client,
                workspace=workspace,
                threads=threads,
                pace=Pace(config.post_seconds),
            ),
            socket=await socket_for(config, app, client),
            events=events_for(config, app),
        )


async def socket_for(
    config: SlackConfig, app: AsyncApp, client: AsyncWebClient
) -> SlackSocket | None:
    if not config.app_token:
        return None
    address = partial(socket_address, client, config.app_token)
    await address()  # a wrong app token stops the start, not the first reconnection
    return SlackSocket(
        answer=partial(dispatch, app), address=address, ping_seconds=config.ping_seconds
    )


def events_for(config: SlackConfig, app: AsyncApp) -> SignedEvents | None:
    if not config.signing_secret:
        return None
    return SignedEvents(app, signing_secret=config.signing_secret)
