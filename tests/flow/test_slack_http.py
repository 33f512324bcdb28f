"""What comes to Slack's HTTP door is let in only when Slack has signed it a moment ago."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import time
from typing import Any
from urllib.parse import quote

import aiohttp
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.assembly import built
from adapters.slack.calling.team import Team
from adapters.slack.config import SlackConfig
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.http import MAX_BODY, SignedEvents
from adapters.slack.installing.teams import OneTeam
from adapters.slack.installing.workspace import Workspace
from rag_core.conversation.key import TenantId
from rag_core.errors import DeskFull, StorageError
from tests.fakes.answers import an_answer
from tests.fakes.slack_desk import FakeDesk
from tests.fakes.slack_house import parts_for
from tests.peers.slack_sender import SIGNING_SECRET, signed

WORKSPACE = Workspace(team_id=TenantId("T1"), bot_user_id="U0BOT", bot_id="B0BOT")
NOWHERE = "http://127.0.0.1:9/api/"
DEEP = "[" * 100_000 + "]" * 100_000
QUESTION = json.dumps(
    {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": "Ev1",
        "event": {
            "type": "message",
            "channel": "D1",
            "channel_type": "im",
            "user": "U1",
            "ts": "1.1",
            "text": "why?",
        },
    }
).encode()
FORM = "application/x-www-form-urlencoded"


class Door:
    """The ASGI app with a desk behind it."""

    def __init__(self, session: aiohttp.ClientSession, errands: Errands) -> None:
        self.session = session
        self.errands = errands
        self.desk = FakeDesk(lambda question: an_answer())
        self.bolt = self._bolt()
        self.app = SignedEvents(self.bolt, signing_secret=SIGNING_SECRET)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app), base_url="http://door.example"
        )

    async def post(self, body: bytes, headers: dict[str, str]) -> httpx.Response:
        return await self.client.post("/slack/events", content=body, headers=headers)

    def _bolt(self) -> AsyncApp:
        """The whole adapter; Slack itself cannot be reached from here."""
        client = AsyncWebClient(token="xoxb-1", base_url=NOWHERE, session=self.session)
        team = Team(client)
        team.know(WORKSPACE)
        config = SlackConfig(bot_token="xoxb-1", signing_secret=SIGNING_SECRET)
        self.teams, parts = OneTeam(team), parts_for(self.desk)
        return built(config, parts, teams=self.teams, client=client, errands=self.errands).app


@asynccontextmanager
async def opened() -> AsyncIterator[Door]:
    async with aiohttp.ClientSession() as session, Errands() as errands:
        door = Door(session, errands)
        async with door.client:
            yield door


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    async with opened() as door:
        yield door


async def test_a_signed_event_is_accepted(door: Door) -> None:
    answer = await door.post(QUESTION, signed(QUESTION))
    assert answer.status_code == 200
    assert len(door.desk.questions) == 1


async def test_while_a_secret_is_exchanged_the_new_and_the_old_one_hold(door: Door) -> None:
    both = SignedEvents(door.bolt, signing_secret=f"the-next-secret, {SIGNING_SECRET}")
    transport = httpx.ASGITransport(both)
    async with httpx.AsyncClient(transport=transport, base_url="http://door.example") as client:
        for secret, status in (
            ("the-next-secret", 200),
            (SIGNING_SECRET, 200),
            ("", 401),
            (f"the-next-secret, {SIGNING_SECRET}", 401),
        ):
            headers = signed(QUESTION, secret=secret)
            answer = await client.post("/slack/events", content=QUESTION, headers=headers)
            assert answer.status_code == status, secret


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StorageError("The database cannot be written."), "not accepted"),
        (DeskFull("Too many questions wait."), "not accepted"),
        (KeyError("a bug"), "met a defect"),
        (TypeError("a bug"), "met a defect"),
    ],
)
@pytest.mark.parametrize("where", ["accept", "found"])
async def test_slack_sends_again_what_an_error_of_ours_kept_from_the_desk(
    door: Door, caplog: pytest.LogCaptureFixture, error: Exception, words: str, where: str
) -> None:
    owner: Any = door.desk if where == "accept" else door.teams

    async def fails(given: object) -> None:
        raise error

    setattr(owner, where, fails)
    answer = await door.post(QUESTION, signed(QUESTION))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    [record] = [r for r in caplog.records if "Slack will send it again" in r.getMessage()]
    assert words in record.getMessage()
    assert record.__dict__["event_id"] == "Ev1"
    assert "why?" not in caplog.text
    delattr(owner, where)
    assert (await door.post(QUESTION, signed(QUESTION))).status_code == 200
    assert len(door.desk.questions) == 1


async def test_the_address_is_verified_with_the_challenge(door: Door) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc", "token": "t"}).encode()
    answer = await door.post(body, signed(body))
    assert (answer.status_code, answer.json()) == (200, {"challenge": "abc"})


@pytest.mark.parametrize(
    ("signature", "status"),
    [
        (dict, 415),
        (lambda: {"Content-Type": "application/json"}, 401),
        (lambda: signed(QUESTION, secret="another"), 401),
        (lambda: signed(b"another body"), 401),
        (lambda: signed(QUESTION, at=time() - 301), 401),
        (lambda: signed(QUESTION, at=time() + 400), 401),
        (lambda: signed(QUESTION) | {"X-Slack-Request-Timestamp": "9" * 5_000}, 401),
        (lambda: signed(QUESTION) | {"X-Slack-Request-Timestamp": "١٢٣"}, 401),
        (lambda: signed(QUESTION) | {"X-Slack-Signature": "é"}, 401),
        (lambda: signed(QUESTION, kind="text/plain"), 415),
    ],
)
async def test_what_slack_did_not_sign_is_refused(
    door: Door, signature: Callable[[], dict[str, str]], status: int
) -> None:
    raw = {name: value.encode() for name, value in signature().items()}
    answer = await door.client.post("/slack/events", content=QUESTION, headers=raw)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert not door.desk.questions


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"[]", "application/json"),
        (b"null", "application/json"),
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"\xff\xfe", "application/json"),
        (DEEP.encode(), "application/json"),
        (b'{"a":' + DEEP[:300].encode() + DEEP[-300:].encode() + b"}", "application/json"),
        (b'{"event": []}', "application/json"),
        (b'{"event": "x", "type": "event_callback"}', "application/json"),
        (b"payload=[]", FORM),
        (b"payload=%ff", FORM),
        (b"payload=" + quote('{"type": "block_actions", "actions": []}').encode(), FORM),
        (b"&".join(b"a=1" for _ in range(200)), FORM),
        (b"payload=" + quote(DEEP).encode(), FORM),
    ],
)
async def test_a_signed_body_that_cannot_be_slacks_is_refused(
    door: Door, body: bytes, kind: str
) -> None:
    assert (await door.post(body, signed(body, kind=kind))).status_code == 400


async def test_too_large_a_body_is_refused_before_it_is_read(door: Door) -> None:
    body = b"x" * (MAX_BODY + 1)
    assert (await door.post(body, signed(body))).status_code == 413

    async def without_length() -> AsyncIterator[bytes]:
        for _ in range(12):
            yield b"x" * 100_000

    answer = await door.client.post(
        "/slack/events", content=without_length(), headers=signed(b"never looked at")
    )
    assert answer.status_code == 413


async def test_only_post_is_answered(door: Door) -> None:
    answer = await door.client.get("/slack/events")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_a_refused_body_is_not_logged(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for body in (b'{"text": "SECRET"', b'["SECRET"]', QUESTION.replace(b"why?", b"SECRET")):
        await door.post(body, signed(body))
        await door.post(body, signed(body, secret="another"))
    assert caplog.records
    assert "SECRET" not in caplog.text


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KINDS = [
    "block_actions",
    "block_suggestion",
    "event_callback",
    "message_action",
    "shortcut",
    "url_verification",
    "view_closed",
    "view_submission",
]
SHAPES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(KINDS) | JSON_VALUES,
        "event": st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(["message", "app_mention"]) | JSON_VALUES,
                "user": JSON_VALUES,
                "ts": JSON_VALUES,
                "channel": JSON_VALUES,
                "channel_type": JSON_VALUES,
                "text": JSON_VALUES,
                "subtype": JSON_VALUES,
                "thread_ts": JSON_VALUES,
            },
        ),
        "authorizations": JSON_VALUES,
        "team": JSON_VALUES,
        "user": JSON_VALUES,
        "actions": JSON_VALUES | st.lists(st.dictionaries(st.text(max_size=8), JSON_VALUES)),
        "view": JSON_VALUES,
        "message": JSON_VALUES,
        "channel": JSON_VALUES,
        "callback_id": JSON_VALUES,
        "command": JSON_VALUES,
    },
)


@given(
    body=st.binary(max_size=200)
    | SHAPES.map(lambda value: b"payload=" + quote(json.dumps(value)).encode())
    | JSON_VALUES.map(as_json := lambda v: json.dumps(v).encode())
    | SHAPES.map(as_json),
    kind=st.sampled_from(["application/json", FORM]),
    is_signed=st.booleans(),
)
async def test_no_request_is_an_exception(body: bytes, kind: str, is_signed: bool) -> None:
    async with opened() as door:
        secret = SIGNING_SECRET if is_signed else "another"
        answer = await door.post(body, signed(body, secret=secret, kind=kind))
    allowed: set[Any] = {200, 400, 404} if is_signed else {401}
    assert answer.status_code in allowed
