"""The gateway of the Discord stand-in: sessions, heartbeats, resuming, events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from aiohttp import WSMsgType, web

from tests.peers.discord_shapes import Shape, whole

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, RESUME, RECONNECT = 0, 1, 2, 3, 6, 7
INVALID_SESSION, HELLO, ACK = 9, 10, 11
UNKNOWN_OP, DECODE_ERROR, NOT_IDENTIFIED, BAD_TOKEN, TWICE = 4001, 4002, 4003, 4004, 4005
BAD_SEQUENCE, BAD_INTENTS, DISALLOWED_INTENTS, BAD_VERSION = 4007, 4013, 4014, 4012
GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1 << 0, 1 << 9, 1 << 12, 1 << 15
PRIVILEGED = {"members": 1 << 1, "presences": 1 << 8, "content": MESSAGE_CONTENT}
MAX_FRAME = 4_096
CHUNK = 1_024


class Socket:
    """One connection: frames as the client asked for them, plain or as one zlib stream."""

    def __init__(self, ws: web.WebSocketResponse, *, compress: bool) -> None:
        self._ws = ws
        self._zlib = zlib.compressobj() if compress else None

    async def send(self, op: int, data: Any, *, seq: int | None = None, kind: str = "") -> None:
        if self._ws.closed:
            return
        frame = json.dumps({"op": op, "d": data, "s": seq, "t": kind or None})
        if self._zlib is None:
            await self._ws.send_str(frame)
            return
        packed = self._zlib.compress(frame.encode()) + self._zlib.flush(zlib.Z_SYNC_FLUSH)
        for start in range(0, len(packed), CHUNK):  # a long message comes in several frames
            await self._ws.send_bytes(packed[start : start + CHUNK])

    async def close(self, code: int) -> None:
        await self._ws.close(code=code)


@dataclass
class Session:
    """What a client may resume: its sequence and every event it was or should have been sent."""

    id: str
    intents: int
    shard: tuple[int, int] = (0, 1)
    seq: int = 0
    events: list[tuple[int, str, Any]] = field(default_factory=list)
    told: set[int] = field(default_factory=set)
    """Which of them were sent."""
    socket: Socket | None = None
    silent: bool = False
    shape: Shape = field(default=whole, repr=False)

    def has(self, intent: int) -> bool:
        return bool(self.intents & intent)

    async def dispatch(self, kind: str, data: Any) -> None:
        self.seq += 1
        data = self.shape(kind, data)
        self.events.append((self.seq, kind, data))
        if self.socket is not None and not self.silent:
            self.told.add(self.seq)
            with contextlib.suppress(ConnectionError):  # who listened has died; a resume tells it
                await self.socket.send(DISPATCH, data, seq=self.seq, kind=kind)


class Gateway:
    """Accepts gateway connections; a breach of the protocol closes with Discord's own code."""

    def __init__(self, *, token: str, heartbeat_ms: int, identify_gap: float) -> None:
        self.token = token
        self.heartbeat_ms = heartbeat_ms
        self.identify_gap = identify_gap
        self.allowed = {"content"}
        """The privileged intents that the developer portal has switched on."""
        self.replay_overlap = 0
        """How many events that the client has seen already a RESUME repeats."""
        self.ignores_resumes = False
        self.is_deaf = False
        """While it is set, nothing is answered and nothing is told: a peer that hangs."""
        self.away = False
        """While it is set, every new connection is closed at once."""
        self.turned_away = 0
        self.sessions: dict[str, Session] = {}
        self.told_again: Counter[str] = Counter()
        """How many times a RESUME repeated each interaction and message, by their ids."""
        self.frames: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.greeting: Any = None
        self.shape: Shape = whole
        self.closing = asyncio.Event()
        self._last_identify = float("-inf")

    def sent(self, op: int) -> list[dict[str, Any]]:
        """The frames of one kind that clients sent."""
        return [frame for frame in self.frames if frame.get("op") == op]

    @property
    def connected(self) -> list[Session]:
        return [session for session in self.sessions.values() if session.socket is not None]

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(max_msg_size=MAX_FRAME)
        await ws.prepare(request)
        if self.away:
            self.turned_away += 1
            await ws.close(code=1012)
            return ws
        compress = request.query.get("compress")
        if request.query.get("v") != "10" or request.query.get("encoding") != "json":
            return await self._breach(ws, BAD_VERSION, f"query {dict(request.query)}")
        if compress not in {None, "zlib-stream"}:
            return await self._breach(ws, DECODE_ERROR, f"compression {compress}")
        socket = Socket(ws, compress=compress is not None)
        if self.is_deaf:
            await self.closing.wait()
            return ws
        await socket.send(HELLO, {"heartbeat_interval": self.heartbeat_ms})
        session: Session | None = None
        try:
            async for message in ws:
                if message.type is not WSMsgType.TEXT:
                    return await self._breach(ws, DECODE_ERROR, f"a {message.type} frame")
                frame = json.loads(message.data)
                self.frames.append(frame)
                session = await self._hear(ws, socket, session, frame)
        finally:
            if session is not None and session.socket is socket:
                session.socket = None
        return ws

    async def _hear(
        self, ws: web.WebSocketResponse, socket: Socket, session: Session | None, frame: Any
    ) -> Session | None:
        op, data = frame.get("op"), frame.get("d")
        if self.is_deaf:
            return session
        if op == HEARTBEAT:
            await socket.send(ACK, None)
        elif op in {IDENTIFY, RESUME} and session is not None:
            await self._breach(ws, TWICE, "identified twice")
        elif op == IDENTIFY:
            return await self._identify(ws, socket, data)
        elif op == RESUME:
            return await self._resume(ws, socket, data)
        elif session is None:
            await self._breach(ws, NOT_IDENTIFIED, f"op {op} before identifying")
        elif op != PRESENCE:
            await self._breach(ws, UNKNOWN_OP, f"op {op}")
        return session

    async def _identify(
        self, ws: web.WebSocketResponse, socket: Socket, data: dict[str, Any]
    ) -> Session | None:
        now = time.monotonic()
        too_soon = now - self._last_identify < self.identify_gap
        self._last_identify = now
        if data.get("token") != self.token:
            await socket.close(BAD_TOKEN)
        elif not isinstance(data.get("intents"), int) or "properties" not in data:
            await self._breach(ws, BAD_INTENTS, "identify without intents or properties")
        elif any(data["intents"] & bit for n, bit in PRIVILEGED.items() if n not in self.allowed):
            await socket.close(DISALLOWED_INTENTS)
        elif too_soon:
            self.complaints.append("gateway: identified again too soon")
            await socket.send(INVALID_SESSION, False)
        else:
            shard = tuple(data.get("shard", (0, 1)))
            session = Session(uuid4().hex, data["intents"], shard, socket=socket, shape=self.shape)
            self.sessions[session.id] = session
            await self.greeting(session)
            return session
        return None

    async def _resume(
        self, ws: web.WebSocketResponse, socket: Socket, data: dict[str, Any]
    ) -> Session | None:
        if self.ignores_resumes:
            return Session("", 0)
        session = self.sessions.get(data.get("session_id", ""))
        if data.get("token") != self.token:
            await socket.close(BAD_TOKEN)
            return None
        if session is None:
            await socket.send(INVALID_SESSION, False)
            return None
        if not isinstance(data.get("seq"), int) or data["seq"] > session.seq:
            await self._breach(ws, BAD_SEQUENCE, f"resumed at {data.get('seq')} of {session.seq}")
            return None
        missed = [e for e in session.events if e[0] > data["seq"] - self.replay_overlap]
        for seq, kind, event in missed:
            if kind != "READY":
                if seq in session.told and "id" in event:
                    self.told_again[event["id"]] += 1
                session.told.add(seq)
                await socket.send(DISPATCH, event, seq=seq, kind=kind)
        session.socket, session.silent = socket, False
        await session.dispatch("RESUMED", {"_trace": []})
        return session

    async def _breach(
        self, ws: web.WebSocketResponse, code: int, what: str
    ) -> web.WebSocketResponse:
        self.complaints.append(f"gateway: {what}, closed with {code}")
        await ws.close(code=code)
        return ws

    def fall_silent(self) -> None:
        """From now on every open connection hangs, as behind a network that lost its way."""
        self.is_deaf = True
        for session in self.connected:
            session.silent = True

    def wake(self) -> None:
        """New connections are served again; the old ones go on hanging."""
        self.is_deaf = False
        for session in self.connected:
            session.socket = None

    async def ask_reconnect(self) -> None:
        """Tell every client to come back; what happens until then waits for its RESUME."""
        for session in self.connected:
            socket, session.socket = session.socket, None
            assert socket is not None
            await socket.send(RECONNECT, None)

    async def invalidate(self, *, resumable: bool) -> None:
        for session in self.connected:
            socket, session.socket = session.socket, None
            assert socket is not None
            if not resumable:
                del self.sessions[session.id]
            await socket.send(INVALID_SESSION, resumable)

    async def cut(self, code: int = 1001) -> None:
        """Close every connection; the sessions can be resumed."""
        for session in self.connected:
            socket, session.socket = session.socket, None
            assert socket is not None
            await socket.close(code)
