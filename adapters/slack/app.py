"""Slack as a platform: opened with its tokens checked, heard over Socket Mode."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from adapters.platform import AcceptsQuestions, ChatPlatform
from adapters.slack.calls import open_client
from adapters.slack.config import SlackConfig
from adapters.slack.envelope import dispatch
from adapters.slack.listener import Listener, bolt_app
from adapters.slack.renderer import SlackRenderer
from adapters.slack.reply import SlackReplies
from adapters.slack.socket import SlackSocket
from adapters.slack.threads import AnsweredThreads
from adapters.slack.workspace import identify, socket_address
from rag_core.conversation.key import Platform
from rag_core.ports import MarkerStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPlatform:
    """One workspace that the bot hears and answers in."""

    renderer: SlackRenderer
    replies: SlackReplies
    socket: SlackSocket

    @property
    def platform(self) -> Platform:
        return Platform.SLACK

    @property
    def is_ready(self) -> bool:
        return self.socket.is_ready

    async def run(self) -> None:
        await self.socket.run()


@asynccontextmanager
async def open_slack(
    config: SlackConfig, *, desk: AcceptsQuestions, markers: MarkerStore
) -> AsyncIterator[ChatPlatform]:
    """Check the tokens, then offer the workspace. A refused token is a ConfigurationError."""
    async with open_client(config) as client:
        workspace = await identify(client)
        address = partial(socket_address, client, config.app_token or "")
        await address()  # a wrong app token stops the start, not the first reconnection
        threads = AnsweredThreads(markers)
        listener = Listener(desk=desk, threads=threads, workspace=workspace)
        app = bolt_app(listener, workspace=workspace, client=client)
        yield SlackPlatform(
            renderer=SlackRenderer(),
            replies=SlackReplies(client=client, workspace=workspace, threads=threads),
            socket=SlackSocket(
                answer=partial(dispatch, app), address=address, ping_seconds=config.ping_seconds
            ),
        )
