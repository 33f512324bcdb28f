"""A strict Slack on loopback: Web API, Socket Mode, and people who write.

What real Slack would refuse is refused with its error name; unless the test foresees it
(`peer.foresees`), such a refusal also fails the test at the end.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from itertools import count
from time import monotonic, time
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.peers.loopback import serving
from tests.peers.slack_api import Arguments, Call, Fault, SlackApi
from tests.peers.slack_house import SlackHouse
from tests.peers.slack_pages import changed_event, message_event, tombstone_event
from tests.peers.slack_rules import Refused
from tests.peers.slack_sender import SIGNING_SECRET, SlackHttpSender
from tests.peers.slack_socket import Envelope, SlackDeliveries, SlackSocketServer
from tests.peers.slack_visitors import Visitors
from tests.peers.slack_world import (
    ANN,
    APP,
    BEN,
    BOT,
    BOT_USER,
    CLEO,
    DIRECT,
    ELSEWHERE,
    GENERAL,
    TEAM,
    SlackChannel,
    SlackMessage,
    SlackWorld,
)

BOT_TOKEN, APP_TOKEN = "xoxb-1-loopback", "xapp-1-loopback"
MENTION = f"<@{BOT_USER}>"
RETRY_AFTER = 1
SUBSCRIBED = {
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "assistant_thread_context_changed",
    "assistant_thread_started",
    "message",
    "tokens_revoked",
}

__all__ = [
    "ANN",
    "APP_TOKEN",
    "BEN",
    "BOT_TOKEN",
    "BOT_USER",
    "CLEO",
    "DIRECT",
    "ELSEWHERE",
    "GENERAL",
    "MENTION",
    "SIGNING_SECRET",
    "TEAM",
    "Fault",
    "SlackMessage",
    "SlackPeer",
]


class SlackPeer:
    """One workspace and its servers; an async context manager."""

    def __init__(
        self,
        *,
        ack_seconds: float = 3.0,
        pauses: Sequence[float] = (0.0, 60.0, 300.0),
        team: str = TEAM,
    ) -> None:
        self.world = SlackWorld(team)
        self.sockets = SlackSocketServer(ack_seconds=ack_seconds, pauses=pauses)
        self.deliveries: SlackDeliveries = self.sockets
        self.house = SlackHouse(self.world)
        self.people = Visitors(self)
        self.api = SlackApi(
            self.world,
            bot_token=BOT_TOKEN,
            app_token=APP_TOKEN,
            open_socket=self._socket_url,
            emit=self.emit,
            house=self.house,
            upload_url=self._file_url,
        )
        self.base = ""
        self._foreseen: set[str] = set()
        self._refusals: list[str] = []
        self.early: list[float] = []
        """By how many seconds calls came before Retry-After had passed."""
        self.troubled: list[Arguments] = []
        """What was asked for by the calls that went wrong."""
        self._faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._told: defaultdict[str, deque[tuple[int, Any, dict[str, str]]]] = defaultdict(deque)
        self._not_before: defaultdict[str, float] = defaultdict(float)
        self._late: list[tuple[str, str | None, Arguments, bool]] = []
        self._event_ids = count(1)
        self._closing = asyncio.Event()
        self._server = AsyncExitStack()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self.handle)
        app.router.add_get("/link", self.sockets.handle)
        app.router.add_post("/respond/{name}", self._respond)
        app.router.add_post("/files/{name}", self._upload)
        app.router.add_get("/files/{name}", self._download)
        host = await self._server.enter_async_context(serving(app, shutdown_seconds=1.0))
        self.base = f"http://{host}/api/"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        await self.deliveries.close()
        await self.sockets.close()
        await self._server.aclose()
        if kind is None:
            self.assert_content()

    def assert_content(self) -> None:
        """Nothing was asked of Slack that it refuses, but what the test foresaw."""
        unforeseen = [r for r in self._refusals if r.partition(":")[0] not in self._foreseen]
        assert not unforeseen, f"Slack would have refused: {unforeseen}"
        assert not self.sockets.faults, f"Slack would not understand: {self.sockets.faults}"

    def foresees(self, *errors: str) -> None:
        """Refusals that a test provokes on purpose."""
        self._foreseen.update(errors)

    def fails(self, method: str, *faults: Fault) -> None:
        """The next calls of a method go wrong, one after the other."""
        self._faults[method].extend(faults)

    def will_fail(self, method: str) -> int:
        """How many such calls are still to come."""
        return len(self._faults[method])

    def says(self, method: str, body: Any, *, status: int = 200, **headers: str) -> None:
        """The next call of a method is answered so, and nothing is done."""
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        self._told[method].append((status, body, told))

    def takes_effect(self) -> None:
        """What came late is done now."""
        while self._late:
            method, token, arguments, as_json = self._late.pop(0)
            self.api.call(method, token, arguments, as_json=as_json)

    @property
    def refusals(self) -> list[str]:
        """What was refused so far."""
        return list(self._refusals)

    def calls(self, method: str) -> list[Call]:
        return [call for call in self.api.calls if call.method == method]

    def sends_to(self, address: str) -> None:
        """From now on events go, signed, to this address and no more to a socket."""
        self.deliveries = SlackHttpSender(
            address, ack_seconds=self.sockets.ack_seconds, pauses=self.sockets.pauses
        )

    # What people do

    def say(
        self,
        channel: str,
        user: str,
        text: str,
        thread_ts: str | None = None,
        **more: Any,
    ) -> str:
        """A person writes; the app hears of it as Slack tells it. Returns the message's ts."""
        place = self.world.channels[channel]
        assert user in place.members, f"{user} is not in {channel}"
        message = SlackMessage(
            ts=self.world.next_ts(), channel=channel, user=user, text=text, thread_ts=thread_ts
        )
        self.world.add(message)
        if BOT_USER in place.members:
            event = message_event(message, place) | more
            if MENTION in text and place.kind != "im":
                self.emit(event | {"type": "app_mention"})
            self.emit(event)
        return message.ts

    def edit(self, channel: str, ts: str, text: str) -> None:
        """A person changes what they wrote."""
        place = self.world.channels[channel]
        message = place.messages[ts]
        before = message.as_slack(with_metadata=False)
        message.text, message.edited = text, True
        message.edited_at = f"{time():.6f}"
        self.emit_from(place, changed_event(message, before, place))

    def delete(self, channel: str, ts: str) -> None:
        """A person takes a message away; one with replies leaves its place."""
        place = self.world.channels[channel]
        message = place.messages[ts]
        before = message.as_slack(with_metadata=False)
        if len(self.world.thread(channel, ts)) > 1:
            message.text, message.buried = "This message was deleted.", True
            self.emit_from(place, tombstone_event(message, before, place))
            return
        del place.messages[ts]
        self.emit_from(
            place,
            changed_event(message, before, place)
            | {"subtype": "message_deleted", "deleted_ts": ts, "message": None},
        )

    def unfurl(self, channel: str, ts: str) -> None:
        """Slack shows a preview of a link in a message: nobody changed a word."""
        place = self.world.channels[channel]
        message = place.messages[ts]
        before = message.as_slack(with_metadata=False)
        event = changed_event(message, before, place)
        event["message"] = event["message"] | {"attachments": [{"title": "A page"}]}
        self.emit(event)

    def share_file(
        self, channel: str, user: str, text: str, name: str, content: bytes, kind: str
    ) -> str:
        """A person writes with a file."""
        file = self.house.text_file(name, content, kind)
        file["url_private"] = self._file_url(file["id"])
        return self.say(channel, user, text, subtype="file_share", files=[file])

    # What the app hears

    def emit_from(self, place: SlackChannel, event: dict[str, Any]) -> None:
        """The app hears only of places that it is in."""
        if BOT_USER in place.members:
            self.emit(event)

    def emit(self, event: dict[str, Any]) -> Envelope | None:
        """Send an event to the app under a new event id."""
        if event["type"] not in SUBSCRIBED:
            return None
        number = next(self._event_ids)
        body = {
            "token": "verification",
            "team_id": self.world.team,
            "context_team_id": self.world.team,
            "context_enterprise_id": None,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{number:08d}",
            "event_time": int(float(event["event_ts"])),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": self.world.team,
                    "user_id": BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
            "event_context": f"context-{number}",
        }
        return self.deliveries.deliver("events_api", body)

    def repeat(self, envelope: Envelope) -> Envelope:
        """Send an event that was acknowledged once more, as happens when an ack is lost."""
        return self.deliveries.deliver(envelope.kind, envelope.payload)

    def envelopes(self, event_type: str | None = None) -> list[Envelope]:
        """What was sent to the app, but for the echoes of its own messages."""
        return [
            envelope
            for envelope in self.deliveries.envelopes.values()
            if envelope.kind == "events_api"
            and event_type in (None, envelope.payload["event"]["type"])
            and envelope.payload["event"].get("bot_id") != BOT
            and (envelope.payload["event"].get("message") or {}).get("bot_id") != BOT
        ]

    async def heard(self) -> None:
        """Wait until every envelope was acknowledged or given up."""
        while waiting := self.deliveries.unfinished():
            await asyncio.gather(*waiting)

    def _socket_url(self) -> str:
        ticket = self.sockets.issue_ticket()
        return self.base.replace("http://", "ws://").replace("/api/", f"/link?ticket={ticket}")

    def _file_url(self, name: str) -> str:
        return self.base.replace("/api/", f"/files/{name}")

    # HTTP

    async def _respond(self, request: web.Request) -> web.Response:
        try:
            status = self.house.respond(request.match_info["name"], await request.json())
        except Refused as refused:
            self._refusals.append(f"{refused.error}: a response address {refused.detail}")
            status = 500
        return web.Response(status=status, text="ok" if status == 200 else "used_url")

    async def _upload(self, request: web.Request) -> web.Response:
        self.house.files[request.match_info["name"]]["content"] = await request.read()
        return web.Response(text="OK")

    async def _download(self, request: web.Request) -> web.Response:
        """Without the scope or a token people are shown how to sign in."""
        file = self.house.files.get(request.match_info["name"])
        if (
            self.api.tokens.get(token_of(request) or "") != "bot"
            or "files:read" not in self.api.scopes
        ):
            return web.Response(text="<html>Sign in</html>", content_type="text/html")
        if file is None:
            return web.Response(status=404)
        return web.Response(body=file["content"], content_type=file["mimetype"])

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        if self._told[method]:
            status, body, headers = self._told[method].popleft()
            return web.json_response(body, status=status, headers=headers)
        fault = self._faults[method].popleft() if self._faults[method] else None
        if fault is not None:
            self.troubled.append(await arguments_of(request))
        if fault is Fault.RATE_LIMITED:
            place = limited_place(method, self.troubled[-1])
            self._not_before[place] = monotonic() + RETRY_AFTER
        match fault:
            case None | Fault.LOST_RESPONSE:
                response = await self._answer(request, method)
            case Fault.HANG:
                await self._closing.wait()
            case Fault.LATE:
                as_json = request.content_type == "application/json"
                self._late.append((method, token_of(request), self.troubled[-1], as_json))
        if fault in (Fault.LOST_RESPONSE, Fault.RESET, Fault.HANG, Fault.LATE):
            return cut(request)
        return response if fault is None else broken(fault)

    async def _answer(self, request: web.Request, method: str) -> web.Response:
        try:
            arguments = await arguments_of(request)
            early = self._not_before[limited_place(method, arguments)] - monotonic()
            if early > 0:
                self.early.append(early)
                raise Refused("ratelimited", "asked again too early", retry_after=RETRY_AFTER)
            as_json = request.content_type == "application/json"
            data = self.api.call(method, token_of(request), arguments, as_json=as_json)
        except Refused as refused:
            return self._refusal(method, refused)
        scopes = ",".join(sorted(self.api.scopes))
        return web.json_response(data, headers={"X-OAuth-Scopes": scopes})

    def _refusal(self, method: str, refused: Refused) -> web.Response:
        self._refusals.append(f"{refused.error}: {method} {refused.detail}")
        body: Arguments = {"ok": False, "error": refused.error}
        if refused.detail:
            body["response_metadata"] = {"messages": [f"[ERROR] {refused.detail}"]}
        if refused.error == "ratelimited":
            headers = {"Retry-After": str(refused.extra["retry_after"])}
            return web.json_response(body, status=429, headers=headers)
        return web.json_response(body | refused.extra)


def token_of(request: web.Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme == "Bearer" and token else None


async def arguments_of(request: web.Request) -> Arguments:
    if request.content_type == "application/json":
        with suppress(ValueError):
            body = json.loads(await request.text())
            if isinstance(body, dict):
                return body
        raise Refused("invalid_json")
    form = await request.post() if request.method == "POST" else {}
    return {**request.query, **form}


def limited_place(method: str, arguments: Arguments) -> str:
    """What a rate limit holds for: a method, or posting in one channel."""
    return f"{method} {arguments.get('channel')}" if method == "chat.postMessage" else method


def broken(fault: Fault) -> web.Response:
    match fault:
        case Fault.RATE_LIMITED:
            body = {"ok": False, "error": "ratelimited"}
            return web.json_response(body, status=429, headers={"Retry-After": str(RETRY_AFTER)})
        case Fault.SERVER_ERROR:
            return web.json_response({"ok": False, "error": "internal_error"}, status=500)
        case Fault.GARBAGE:
            return web.Response(text="{<html>", content_type="application/json")
        case _:
            return web.Response(text="upstream connect error", content_type="text/plain")


def cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
