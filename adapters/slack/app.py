"""Slack as a platform: opened with its tokens checked, heard over Socket Mode or HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from slack_bolt.app.async_app import AsyncApp

from adapters.slack.backfill import Backfill
from adapters.slack.calls import open_client
from adapters.slack.config import SlackConfig
from adapters.slack.envelope import dispatch
from adapters.slack.errands import Errands
from adapters.slack.http import SignedEvents
from adapters.slack.parts import SlackParts, built
from adapters.slack.renderer import SlackRenderer
from adapters.slack.reply import SlackReplies
from adapters.slack.socket import SlackSocket
from adapters.slack.team import Team
from adapters.slack.teams import OneTeam
from adapters.slack.workspace import socket_address
from adapters.steward import Finding
from rag_core.conversation.key import Platform
from rag_core.errors import ConfigurationError, UpstreamError

log = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPlatform:
    """One workspace that the bot hears and answers in."""

    team: Team
    renderer: SlackRenderer
    replies: SlackReplies
    socket: SlackSocket | None
    events: SignedEvents | None
    """An ASGI app for /slack/events, where a signing secret is set."""
    backfill: Backfill
    retry_seconds: float

    @property
    def platform(self) -> Platform:
        return Platform.SLACK

    @property
    def is_ready(self) -> bool:
        return self.team.is_ready and (self.socket is None or self.socket.is_ready)

    async def findings(self) -> Sequence[Finding]:
        """What is in place and what is missing, in words for who can act on it."""
        found = list(self.team.findings())
        if self.socket is not None and self.team.is_ready and not self.socket.is_ready:
            detail = "The connection of Socket Mode is down; the bot keeps trying."
            found.append(Finding(name="slack socket", in_place=False, detail=detail))
        return found or [
            Finding(name="slack", in_place=True, detail="Slack is connected and lacks nothing.")
        ]

    async def run(self) -> None:
        """Listen until cancelled; while Slack is away, keep trying."""
        pause = self.retry_seconds
        while not await known(self.team):
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        async with self.backfill:
            await self._listen()

    async def _listen(self) -> None:
        if self.socket is not None:
            await self.socket.run()
        else:  # what comes over HTTP is heard by the web process
            await self.backfill.connected()
            await asyncio.Event().wait()


@asynccontextmanager
async def open_slack(config: SlackConfig, parts: SlackParts) -> AsyncIterator[SlackPlatform]:
    """Check the tokens, then offer the workspace. A refused token is a ConfigurationError; a
    Slack that cannot be reached is not."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(open_client(config))
        team = Team(client, post_seconds=config.post_seconds)
        errands = await stack.enter_async_context(Errands())
        await known(team)
        house = built(config, parts, teams=OneTeam(team), client=client, errands=errands)
        backfill = Backfill(
            team=team,
            keeper=house.marks,
            hears=house.hears,
            longest_away=config.longest_away,
        )
        yield SlackPlatform(
            team=team,
            renderer=house.renderer,
            replies=house.replies,
            backfill=backfill,
            socket=await socket_for(config, house.app, team, backfill),
            events=events_for(config, house.app, team),
            retry_seconds=config.retry_seconds,
        )


async def known(team: Team) -> bool:
    """Whether Slack has told us who we are; not while it cannot be reached."""
    if team.is_ready:
        return True
    try:
        await team.identify()
    except UpstreamError as error:
        log.warning("slack is not reachable", extra={"cause": str(error)})
        return False
    return True


async def socket_for(
    config: SlackConfig, app: AsyncApp, team: Team, backfill: Backfill
) -> SlackSocket | None:
    if not config.app_token:
        return None
    address = partial(socket_address, team.client, config.app_token)
    try:
        await address()  # a wrong app token stops the start, not the first reconnection
    except ConfigurationError:
        raise
    except UpstreamError as error:
        log.warning("slack is not reachable", extra={"cause": str(error)})
    return SlackSocket(
        answer=partial(dispatch, app),
        address=address,
        greeted=backfill.connected,
        ping_seconds=config.ping_seconds,
    )


def events_for(config: SlackConfig, app: AsyncApp, team: Team) -> SignedEvents | None:
    if not config.signing_secret:
        return None
    return SignedEvents(app, signing_secret=config.signing_secret, is_open=lambda: team.is_ready)
