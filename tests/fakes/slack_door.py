"""The HTTP door of the Slack adapter with everything behind it, called as a server would."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.assembly import built
from adapters.slack.calling.team import Team
from adapters.slack.config import SlackConfig
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.http import SignedEvents
from adapters.slack.installing.teams import OneTeam
from adapters.slack.installing.workspace import Workspace
from rag_core.conversation.key import TenantId
from tests.fakes.answers import an_answer
from tests.fakes.slack_desk import FakeDesk
from tests.fakes.slack_house import parts_for
from tests.peers.slack_sender import SIGNING_SECRET

WORKSPACE = Workspace(team_id=TenantId("T1"), bot_user_id="U0BOT", bot_id="B0BOT")
START, BODY = "http.response.start", "http.response.body"
NOWHERE = "http://127.0.0.1:9/api/"


class SlackDoor:
    """The ASGI app with a desk behind it; Slack itself cannot be reached from here."""

    def __init__(self, session: aiohttp.ClientSession, errands: Errands) -> None:
        self.desk = FakeDesk(lambda question: an_answer())
        self.errands = errands
        client = AsyncWebClient(token="xoxb-1", base_url=NOWHERE, session=session)
        team = Team(client)
        team.know(WORKSPACE)
        config = SlackConfig(bot_token="xoxb-1", signing_secret=SIGNING_SECRET)
        house = built(
            config, parts_for(self.desk), teams=OneTeam(team), client=client, errands=errands
        )
        self.app = SignedEvents(house.app, signing_secret=SIGNING_SECRET)

    async def status(self, method: str, headers: Mapping[str, str], body: bytes) -> int:
        """What one request is answered with."""
        sent: list[Any] = []
        raw = [(k.lower().encode(), v.encode()) for k, v in headers.items()]
        scope = {"type": "http", "method": method, "path": "/slack/events", "headers": raw}

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        assert [message["type"] for message in sent] == [
            "http.response.start",
            "http.response.body",
        ]
        return int(sent[0]["status"])


@asynccontextmanager
async def slack_door() -> AsyncIterator[SlackDoor]:
    async with aiohttp.ClientSession() as session, Errands() as errands:
        yield SlackDoor(session, errands)
