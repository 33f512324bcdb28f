"""A defect of our own is never reported as a vendor's, and never tried again as if it were one."""

from __future__ import annotations

from typing import Any

import httpx
import openai
import pytest
from qdrant_client.http.exceptions import ResponseHandlingException
from slack_sdk.web.async_client import AsyncWebClient

from adapters.discord.gateway.errors import discord_errors
from adapters.discord.gateway.rest import DiscordRest
from adapters.slack.calling.calls import slack_errors
from rag_core.errors import UpstreamUnavailable
from rag_core.providers.chat.openai_chat import openai_errors
from rag_core.providers.cohere_client import cohere_errors, open_cohere
from rag_core.providers.server.connection import qdrant_errors
from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, Markers, running
from tests.peers.cohere import KEY, cohere_peer
from tests.peers.discord import open_discord_peer
from tests.peers.discord_gateway import HEARTBEAT, IDENTIFY, RESUME
from tests.peers.slack import BOT_TOKEN, SlackPeer

UNENCODABLE: Any = {"a set": {1}}
"""What no JSON can say: it fails before anything is sent."""


async def test_what_cannot_be_sent_to_discord_is_no_silence_of_discord() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course) as platform:
            rest = DiscordRest(platform.connection)
            with pytest.raises(TypeError):
                await rest.register_commands([UNENCODABLE], guild_id=None)
            with pytest.raises(ValueError, match="not a number"):
                await rest.typing("not a number")


async def test_a_defect_beside_a_call_to_discord_stays_what_it_is() -> None:
    with pytest.raises(LookupError), discord_errors():
        raise LookupError("of our own")


async def test_what_cannot_be_sent_to_slack_is_no_silence_of_slack() -> None:
    async with SlackPeer() as peer:
        client = AsyncWebClient(token=BOT_TOKEN, base_url=peer.base, retry_handlers=[])
        with pytest.raises(AttributeError, match="nothing_of_ours"), slack_errors():
            await getattr(client, "nothing_of_ours")()  # noqa: B009 - a defect
        peer.says("auth.test", "words")
        with pytest.raises(UpstreamUnavailable), slack_errors():
            await client.auth_test()


async def test_what_cannot_be_sent_to_a_model_is_no_silence_of_its_vendor() -> None:
    lonely = "\ud800"  # half a character, which no bytes stand for
    async with openai.AsyncOpenAI(api_key="k", base_url="http://127.0.0.1:9", max_retries=0) as own:
        with pytest.raises((TypeError, ValueError)), openai_errors():
            await own.post("/chat/completions", cast_to=httpx.Response, body={"text": lonely})


async def test_what_cannot_be_sent_to_cohere_is_no_silence_of_cohere() -> None:
    async with cohere_peer() as peer, open_cohere(KEY, peer.url, seconds=5) as client:
        with pytest.raises((TypeError, ValueError, AttributeError)), cohere_errors():
            await client.rerank(model="rerank", query="\ud800", documents=["one"])


@pytest.mark.parametrize(
    ("source", "raised"),
    [
        (httpx.ConnectError("away"), UpstreamUnavailable),
        (TypeError("a defect"), TypeError),
    ],
)
def test_what_qdrants_client_wraps_keeps_its_kind(
    source: Exception, raised: type[Exception]
) -> None:
    with pytest.raises(raised), qdrant_errors():
        raise ResponseHandlingException(source)


class DefectiveMarkers(Markers):
    """Markers with a defect where the session of a gateway connection is stored."""

    defects = 0

    async def set(self, name: str, value: str) -> None:
        if self.defects and name.startswith("discord:session:"):
            self.defects -= 1
            raise TypeError("a defect")
        await super().set(name, value)


@pytest.mark.parametrize("defects", [1, 3])
async def test_a_defect_in_a_heartbeat_shows_and_the_next_one_beats(
    defects: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk(), markers=(markers := DefectiveMarkers()))
        bounds = {"beat_seconds": 0.05, "silence_seconds": 0.5, "open_seconds": 0.5}
        async with running(course, **bounds) as platform:
            markers.defects = defects
            await course.until(lambda: not markers.defects)
            beats = len(peer.gateway.sent(HEARTBEAT))
            await course.until(lambda: len(peer.gateway.sent(HEARTBEAT)) >= beats + 15)
            assert platform.is_ready
        assert len(peer.gateway.sent(IDENTIFY)) == 1, "no silence ended the connection"
        assert not peer.gateway.sent(RESUME)
    said = [record.message for record in caplog.records]
    assert said.count("heartbeat failed by a defect") == defects
