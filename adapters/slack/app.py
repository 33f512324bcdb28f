"""Slack as a platform: opened with its tokens checked, heard over Socket Mode or HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.admissions import Admissions
from adapters.asked_lately import KnowsAskedLately
from adapters.slack.answering.lost_drafts import LostDrafts
from adapters.slack.answering.renderer import SlackRenderer
from adapters.slack.answering.reply import SlackReplies
from adapters.slack.assembly import Built, SlackParts, built
from adapters.slack.calling.calls import open_client
from adapters.slack.calling.team import Team
from adapters.slack.config import (
    INSTALL_PATH,
    REDIRECT_PATH,
    SlackConfig,
)
from adapters.slack.hearing.backfill import Backfill
from adapters.slack.hearing.catch_up import CatchUp
from adapters.slack.hearing.envelope import dispatch
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.http import SignedEvents
from adapters.slack.hearing.membership import Membership
from adapters.slack.hearing.socket import SlackSocket
from adapters.slack.installing.admission import Admission
from adapters.slack.installing.door import InstallDoor
from adapters.slack.installing.state import InstallStates
from adapters.slack.installing.teams import OneTeam, Teams
from adapters.slack.installing.workspace import socket_address
from adapters.slack.installing.workspaces import Workspaces
from adapters.slack.manifest import EVENTS_PATH
from adapters.steward import Finding
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import ConfigurationError, UpstreamError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPlatform:
    """The workspaces that the bot hears and answers in."""

    teams: Teams
    renderer: SlackRenderer
    replies: SlackReplies
    socket: SlackSocket | None
    events: SignedEvents | None
    """An ASGI app for /slack/events, where a signing secret is set."""
    catch_up: CatchUp
    lost_drafts: LostDrafts
    forget: Callable[[str | None], None]
    """Drop what is remembered of one person, or of everybody."""
    membership: Membership
    admissions: Admissions
    doors: Mapping[str, Any] = field(default_factory=dict)
    """ASGI apps by path: what Slack, and who installs, reaches on the port of the web door."""

    @property
    def platform(self) -> Platform:
        return Platform.SLACK

    @property
    def is_ready(self) -> bool:
        """Not where it can hear but not answer."""
        can_work = self.teams.are_ready and self.teams.can_answer
        return can_work and (self.socket is None or self.socket.is_ready)

    async def findings(self, *, tenant: TenantId | None = None) -> Sequence[Finding]:
        """What is in place and what is missing, in words for who can act on it."""
        found = list(self.teams.findings(tenant))
        if self.socket is not None and self.teams.are_ready and not self.socket.is_ready:
            detail = "The connection of Socket Mode is down; the bot keeps trying."
            found.append(Finding(name="slack socket", in_place=False, detail=detail))
        if not found:
            found.append(Finding(name="slack", in_place=True, detail=self._all_is_well(tenant)))
        return [*await self.admissions.findings(), *found] if tenant is None else found

    def _all_is_well(self, tenant: TenantId | None) -> str:
        count = len(self.teams.all())
        where = f" in {count} workspaces" if tenant is None and count > 1 else ""
        return f"Slack is connected{where} and lacks nothing."

    async def run(self) -> None:
        """Listen until cancelled; while Slack is away, keep trying."""
        await self.teams.known()
        await self.membership.begin()
        async with self.catch_up:
            await together(
                self._listen(),
                self.teams.keep(),
                self.catch_up.watch(),
                self.lost_drafts.watch(),
            )

    async def _listen(self) -> None:
        if self.socket is not None:
            await self.socket.run()
        else:  # what comes over HTTP is heard by the web process
            await self.catch_up.connected()
            await asyncio.Event().wait()


async def together(*works: Coroutine[Any, Any, None]) -> None:
    """Until the first of them ends; its error is nobody else's, and none is left running."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def open_slack(config: SlackConfig, parts: SlackParts) -> AsyncIterator[SlackPlatform]:
    """Check the tokens, then offer the workspaces. A refused token of the settings is a
    ConfigurationError; a Slack that cannot be reached is not."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(open_client(config))
        errands = await stack.enter_async_context(Errands())
        teams, doors = await installed_at(config, parts, client)
        house = built(config, parts, teams=teams, client=client, errands=errands)
        catch_up = CatchUp(
            teams,
            reads=partial(reader, config, house, parts.lately),
            serves=house.membership.serves,
        )
        events = events_for(config, house.app, teams)
        yield SlackPlatform(
            teams=teams,
            renderer=house.renderer,
            replies=house.replies,
            catch_up=catch_up,
            lost_drafts=house.lost_drafts,
            forget=house.forget,
            socket=await socket_for(config, house.app, client, catch_up),
            events=events,
            membership=house.membership,
            admissions=parts.admissions,
            doors={**doors, **({EVENTS_PATH: events} if events is not None else {})},
        )


async def installed_at(
    config: SlackConfig, parts: SlackParts, client: AsyncWebClient
) -> tuple[Teams, Mapping[str, Any]]:
    """The workspace of the settings, or those that let the app in and the door for more."""
    install = config.install
    if install is None:
        one = OneTeam(
            Team(client, post_seconds=config.post_seconds),
            retry_seconds=config.retry_seconds,
            look_seconds=config.look_seconds,
        )
        await one.identified()
        return one, {}
    store = parts.installations
    assert store is not None, "the wiring hands in where installations are kept"
    several = Workspaces(
        store=store,
        client=client,
        config=install,
        post_seconds=config.post_seconds,
        forgetting=parts.forgetting,
    )
    await several.load()
    await parts.admissions.trust_present(several.names)
    door = InstallDoor(
        admission=Admission(
            store=store,
            workspaces=several,
            client=client,
            config=install,
            admissions=parts.admissions,
        ),
        states=InstallStates(secret=install.client_secret, good_for=install.state_seconds),
        config=install,
        api_base=config.api_base,
    )
    return several, {INSTALL_PATH: door, REDIRECT_PATH: door}


def reader(
    config: SlackConfig, house: Built, lately: KnowsAskedLately | None, team: Team
) -> Backfill:
    return Backfill(
        team=team,
        keeper=house.marks.of(team.workspace.team_id),
        hears=house.hears,
        longest_away=config.longest_away,
        pauses=config.read_again_after,
        lately=lately,
    )


async def socket_for(
    config: SlackConfig, app: AsyncApp, client: AsyncWebClient, catch_up: CatchUp
) -> SlackSocket | None:
    if not config.app_token:
        return None
    address = partial(socket_address, client, config.app_token)
    try:
        await address()  # a wrong app token stops the start, not the first reconnection
    except ConfigurationError:
        raise
    except UpstreamError as error:
        log.warning("slack is not reachable", extra={"cause": str(error)})
    return SlackSocket(
        answer=partial(dispatch, app),
        address=address,
        greeted=catch_up.connected,
        ping_seconds=config.ping_seconds,
    )


def events_for(config: SlackConfig, app: AsyncApp, teams: Teams) -> SignedEvents | None:
    if not config.signing_secret:
        return None
    return SignedEvents(app, signing_secret=config.signing_secret, is_open=lambda: teams.are_ready)
