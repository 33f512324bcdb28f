"""Slack's side of Socket Mode: sends envelopes, waits for their acks, sends again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Any
from uuid import uuid4

from aiohttp import WSMsgType, web

from tests.peers.slack_world import APP

MAX_SOCKETS = 10


@dataclass
class Envelope:
    """One delivery to the app: when it was sent, and when it was acknowledged."""

    envelope_id: str
    kind: str
    payload: dict[str, Any]
    accepts_response: bool = False
    sent_at: list[float] = field(default_factory=list)
    acked_at: float | None = None
    response: Any = None
    given_up: bool = False
    acked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def attempts(self) -> int:
        return len(self.sent_at)

    def frame(self) -> str:
        body: dict[str, Any] = {
            "envelope_id": self.envelope_id,
            "type": self.kind,
            "payload": self.payload,
            "accepts_response_payload": self.accepts_response,
        }
        if self.kind == "events_api":
            body["retry_attempt"] = self.attempts
            body["retry_reason"] = "timeout" if self.attempts else ""
        return json.dumps(body)


class SlackDeliveries:
    """Sees every envelope to its ack, or to its last attempt, by whatever way it is sent."""

    def __init__(self, *, ack_seconds: float, pauses: Sequence[float]) -> None:
        self.ack_seconds = ack_seconds
        self.pauses = pauses
        self.envelopes: dict[str, Envelope] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, envelope: Envelope) -> None:
        """Send it once, and note when."""
        raise NotImplementedError

    def deliver(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        accepts_response: bool = False,
        pauses: Sequence[float] | None = None,
    ) -> Envelope:
        envelope = Envelope(str(uuid4()), kind, payload, accepts_response)
        self.envelopes[envelope.envelope_id] = envelope
        again = self.pauses if pauses is None else pauses
        task = asyncio.create_task(self._see_through(envelope, again))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return envelope

    def unfinished(self) -> list[asyncio.Task[None]]:
        """The deliveries that are neither acknowledged nor given up."""
        return list(self._tasks)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _see_through(self, envelope: Envelope, pauses: Sequence[float]) -> None:
        for pause in (0.0, *pauses):
            await asyncio.sleep(pause)
            await self.send(envelope)
            try:
                await asyncio.wait_for(envelope.acked.wait(), self.ack_seconds)
            except TimeoutError:
                continue
            return
        envelope.given_up = True


class SlackSocketServer(SlackDeliveries):
    """Holds the app's sockets; each envelope goes to one of them."""

    def __init__(self, *, ack_seconds: float, pauses: Sequence[float]) -> None:
        super().__init__(ack_seconds=ack_seconds, pauses=pauses)
        self.tickets: set[str] = set()
        self.sockets: list[web.WebSocketResponse] = []
        self.faults: list[str] = []
        self.connected = asyncio.Event()
        self.sessions = 0
        self._turns = count()

    def issue_ticket(self) -> str:
        ticket = uuid4().hex
        self.tickets.add(ticket)
        return ticket

    async def handle(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            self.faults.append("a socket was opened with a used or unknown ticket")
            return web.Response(status=403)
        self.tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if len(self.sockets) >= MAX_SOCKETS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.close()
            return socket
        await self._serve(socket)
        return socket

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask the app to connect anew, as Slack does every few hours."""
        await self.babble(json.dumps({"type": "disconnect", "reason": reason}))

    async def babble(self, frame: str) -> None:
        """Send whatever to every socket."""
        for socket in list(self.sockets):
            await socket.send_str(frame)

    async def drop(self) -> None:
        """Cut every socket without a word."""
        for socket in list(self.sockets):
            transport = socket._req.transport if socket._req else None
            if transport is not None:
                transport.abort()

    async def close(self) -> None:
        await super().close()
        for socket in list(self.sockets):
            await socket.close()

    async def _serve(self, socket: web.WebSocketResponse) -> None:
        self.sockets.append(socket)
        self.sessions += 1
        try:
            await socket.send_json(
                {
                    "type": "hello",
                    "num_connections": len(self.sockets),
                    "connection_info": {"app_id": APP},
                    "debug_info": {"approximate_connection_time": 18_060},
                }
            )
            self.connected.set()
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._acknowledge(frame.data)
        finally:
            self.sockets.remove(socket)
            if not self.sockets:
                self.connected.clear()

    def _acknowledge(self, data: str) -> None:
        ack = json.loads(data)
        envelope = self.envelopes.get(ack.get("envelope_id"))
        if envelope is None or set(ack) - {"envelope_id", "payload"}:
            self.faults.append(f"an ack that Slack does not understand: {data}")
            return
        if ack.get("payload") and not envelope.accepts_response:
            self.faults.append("an ack with a payload where none is accepted")
        if envelope.acked_at is None:
            envelope.acked_at = monotonic()
            envelope.response = ack.get("payload")
            envelope.acked.set()

    async def send(self, envelope: Envelope) -> None:
        while True:
            await self.connected.wait()
            socket = self.sockets[next(self._turns) % len(self.sockets)]
            try:
                await socket.send_str(envelope.frame())
            except ConnectionError:
                await asyncio.sleep(0.01)
                continue
            envelope.sent_at.append(monotonic())
            return
