"""Socket Mode: the connection that Slack's events come in by.

The library's own socket client starts a task for each event and forgets it, tries one used-up
address for ever, and goes on asking with a token that Slack has revoked; so the connection is kept
here, and only what comes in by it is handed to the library."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import aiohttp

from adapters.slack.hearing.envelope import Envelope, envelope_in
from rag_core.errors import ConfigurationError, UpstreamError

log = logging.getLogger(__name__)

SHORTEST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
LAST_WORDS = 10.0
"""How long a socket that Slack wants to end may still bring events."""
SWITCHED_OFF = "link_disabled"
UNREACHABLE = (aiohttp.ClientError, OSError, TimeoutError, UpstreamError)
Answer = Callable[[Envelope], Awaitable[dict[str, Any] | None]]
"""What to say to an envelope: the ack, or nothing, and then Slack sends it again."""


class Line:
    """One socket, from its opening to its end."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.opened_at = monotonic()
        self.greeted = False
        self.leaving = asyncio.Event()

    @property
    def is_good(self) -> bool:
        return self.greeted and not self.leaving.is_set() and not self.socket.closed


class SlackSocket:
    """Stays connected; hands on every envelope and says to Slack what comes back."""

    def __init__(
        self,
        *,
        answer: Answer,
        address: Callable[[], Awaitable[str]],
        greeted: Callable[[], Awaitable[None]],
        ping_seconds: float,
    ) -> None:
        self._answer = answer
        self._address = address
        self._greeted = greeted
        self._ping_seconds = ping_seconds
        self._line: Line | None = None
        self._reading: set[asyncio.Task[None]] = set()
        self._in_work: set[asyncio.Task[None]] = set()
        self._over: ConfigurationError | None = None

    @property
    def is_ready(self) -> bool:
        return self._line is not None and self._line.is_good

    async def run(self) -> None:
        """Listen until cancelled; ends by itself only when Slack refuses the app for good."""
        limits = aiohttp.ClientTimeout(total=None, sock_connect=2 * self._ping_seconds)
        async with aiohttp.ClientSession(timeout=limits) as session:
            try:
                await self._stay_connected(session)
            finally:
                await self._end()

    async def _stay_connected(self, session: aiohttp.ClientSession) -> None:
        pause = 0.0
        while self._over is None:
            await asyncio.sleep(pause)
            line = await self._open(session)
            if line is not None:
                await line.leaving.wait()
            if line is not None and monotonic() - line.opened_at > self._ping_seconds:
                pause = 0.0
            else:
                pause = min(LONGEST_PAUSE, max(SHORTEST_PAUSE, 2 * pause))
        raise self._over

    async def _open(self, session: aiohttp.ClientSession) -> Line | None:
        try:
            address = await self._address()
            async with asyncio.timeout(2 * self._ping_seconds):
                socket = await session.ws_connect(address, heartbeat=self._ping_seconds)
        except UNREACHABLE as error:
            # Not the error's own text: it may hold the address with its one-time ticket.
            log.warning("slack is not reachable", extra={"cause": type(error).__name__})
            await asyncio.sleep(getattr(error, "retry_after", None) or 0.0)
            return None
        self._line = Line(socket)
        keep(self._reading, self._read(self._line))
        return self._line

    async def _read(self, line: Line) -> None:
        """Take what comes by a socket. A newer one may be open already while this one ends."""
        try:
            async with asyncio.timeout(None) as limit:
                async for frame in line.socket:
                    if frame.type is aiohttp.WSMsgType.TEXT:
                        await self._take(line, frame.data)
                    if line.leaving.is_set() and limit.when() is None:
                        limit.reschedule(asyncio.get_running_loop().time() + LAST_WORDS)
        except TimeoutError:
            log.info("an old socket was left")
        finally:
            line.leaving.set()
            await line.socket.close()

    async def _take(self, line: Line, data: str) -> None:
        match frame_in(data):
            case {"type": "hello"}:
                await self._greeted()  # before the first event of this socket is taken
                line.greeted = True
                log.info("connected to slack")
            case {"type": "disconnect", **more}:
                self._take_leave(line, str(more.get("reason", "")))
            case {"envelope_id": str(), "type": str(), "payload": dict()} as frame:
                keep(self._in_work, self._hear(line, envelope_in(frame)))
            case _:
                log.warning("slack sent a frame that is no envelope")

    def _take_leave(self, line: Line, reason: str) -> None:
        log.info("slack ends a socket", extra={"reason": reason})
        if reason == SWITCHED_OFF:
            self._over = ConfigurationError(
                "Slack has Socket Mode switched off for this app: switch it on in the app's"
                " settings, or unset SLACK_APP_TOKEN."
            )
        line.leaving.set()

    async def _hear(self, line: Line, envelope: Envelope) -> None:
        ack = await self._answer(envelope)
        if ack is None:
            return
        try:
            await line.socket.send_str(json.dumps(ack))
        except (aiohttp.ClientError, ConnectionError):
            log.info("an ack did not reach slack", extra={"envelope_id": envelope.envelope_id})

    async def _end(self) -> None:
        """Hear to the end what was begun, within a bound; what is cut off here comes again."""
        if self._in_work:
            await asyncio.wait(self._in_work, timeout=self._ping_seconds)
        left = self._in_work | self._reading
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def frame_in(data: str) -> Any:
    """What a frame holds; nothing where it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def keep(owned: set[asyncio.Task[None]], work: Any) -> None:
    """Start a task that its owner holds on to until it is done."""
    task = asyncio.create_task(work)
    owned.add(task)
    task.add_done_callback(owned.discard)
