"""One gateway connection: comes back after every break, in the same session where it can."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from time import monotonic, time
from typing import Protocol

import aiohttp
import discord
from discord.gateway import DiscordWebSocket, ReconnectWebSocket
from yarl import URL

from adapters.discord.config import DiscordConfig
from adapters.discord.gateway.errors import SERVICE, UNREADABLE
from adapters.discord.gateway.sessions import IdentifyBudget, SavedSession, SessionMemory
from rag_core.errors import UpstreamError, UpstreamUnavailable

log = logging.getLogger(__name__)

PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0)
"""Between connections that all break at once; the last one repeats, so that nobody waits long
for a network that is back."""
NOT_ALLOWED = 4014
CLEAN = 1000
RESUMABLE_END = 4000
"""A close code that lets Discord keep the session for whoever comes back."""
HANG_UP_SECONDS = 2.0
OLDEST_RESUME = 30 * 60.0
Begins = Callable[[], Awaitable[None]]


class KnowsServers(Protocol):
    """What this process knows of its servers."""

    async def restore(self, guild_ids: Sequence[int]) -> bool:
        """Whether they are known again, though no session told of them."""
        ...

    def guilds_of(self, shard_id: int) -> tuple[int, ...]: ...


class Shard:
    """Listens, sends signs of life of its own, and takes silence for a break."""

    def __init__(
        self,
        shard_id: int,
        *,
        client: discord.Client,
        servers: KnowsServers,
        config: DiscordConfig,
        memory: SessionMemory,
        budget: IdentifyBudget,
        begins: Begins,
    ) -> None:
        self.id = shard_id
        self.is_connected = False
        self._missed_since: float | None = None
        self._unread: list[float] = []
        """Since when something may have been missed that is not read yet, one for each time."""
        self._client = client
        self._servers = servers
        self._config = config
        self._memory = memory
        self._budget = budget
        self._begins = begins
        self._session = SavedSession()
        self._ws: DiscordWebSocket | None = None
        self._was_open = False
        self._resumes = False
        self._heard_at = float("-inf")

    @property
    def is_ready(self) -> bool:
        """Whether it is connected, and not deaf."""
        longest = self._config.beat_seconds + self._config.answer_seconds
        return self.is_connected and monotonic() - self._heard_at < longest

    async def run(self) -> None:
        """Until cancelled; raises where coming back makes no sense."""
        self._session = await self._memory.load()
        if time() - self._session.awake_at > OLDEST_RESUME or not await self._restored():
            self._session = self._session.ended()
        failures = 0
        while True:
            await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
            began = self._heard_at
            try:
                await self._listen()
            except ReconnectWebSocket as again:
                if not again.resume:
                    self._session = self._session.ended()
            except discord.ConnectionClosed as closed:
                self._raise_final(closed)
            except (OSError, aiohttp.ClientError, discord.HTTPException, UpstreamError) as error:
                self._lost(error)
            except Exception:  # a defect of ours must not end the other shards and platforms
                log.exception("gateway connection failed by a defect", extra={"shard": self.id})
            finally:
                self.is_connected = False
            failures = 0 if self._heard_at > began else failures + 1

    def goes_on(self) -> None:
        """The session was resumed, and everything that was missed has been told."""
        self.is_connected = True

    async def begins_anew(self) -> float | None:
        """A new session is complete; from when on it may have missed something."""
        self.is_connected = True
        if self._ws is not None:
            self._note(self._ws)
        if self._missed_since is not None:
            self._unread.append(self._missed_since)
        await self._keep()
        return self._missed_since

    async def misses(self, since: float) -> None:
        """Something may be missed since then. Until it is read, a process that comes after must
        begin there too."""
        self._unread.append(since)
        await self._keep()

    async def has_read(self, since: float) -> None:
        """What was missed since then is read."""
        if since in self._unread:
            self._unread.remove(since)
            await self._keep()

    async def end(self) -> None:
        """Hang up so that the next process can go on with this session."""
        self.is_connected = False
        await self._keep()
        await self._hang_up()

    def _lost(self, error: Exception) -> None:
        """The address for a RESUME may be what is gone: the next try goes to the front door."""
        if not self._was_open:
            self._session = replace(self._session, gateway=None)
        log.warning("the gateway was lost", extra={"shard": self.id, "cause": type(error).__name__})

    def _raise_final(self, closed: discord.ConnectionClosed) -> None:
        if closed.code == NOT_ALLOWED:
            raise discord.PrivilegedIntentsRequired(self.id) from closed
        if closed.code != CLEAN:
            raise closed

    async def _restored(self) -> bool:
        """A resumed session is told nothing of its servers: they are asked for."""
        if not self._session.is_resumable:
            return True
        try:
            return await self._servers.restore(self._session.guilds)
        except UpstreamError as error:
            log.warning("servers not restored", extra={"shard": self.id, "cause": str(error)})
            return False

    async def _listen(self) -> None:
        async with self._opened() as ws:
            begun = monotonic()
            while True:
                async with asyncio.timeout(self._config.silence_seconds):
                    with unreadable_frames():
                        await ws.poll_event()
                self._heard_at = monotonic()
                waited = self._heard_at - begun
                if self._resumes and not self.is_connected and waited > self._config.open_seconds:
                    # It is alive, but neither takes the session up nor says that it is over.
                    raise ReconnectWebSocket(self.id, resume=False)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[DiscordWebSocket]:
        """A connection with its beat; what it heard last is noted when it ends."""
        self._was_open = False
        resumes = self._resumes = self._session.is_resumable
        if not resumes:
            self._missed_since = self._session.awake_at or None
            await self._budget.spend()
            await self._begins()
        async with asyncio.timeout(self._config.open_seconds):
            with unreadable_frames():
                ws = self._ws = await DiscordWebSocket.from_client(
                    self._client,
                    initial=True,
                    shard_id=self.id,
                    gateway=URL(self._session.gateway) if self._session.gateway else None,
                    session=self._session.session_id,
                    sequence=self._session.sequence,
                    resume=resumes,
                )
        self._was_open = True
        beating = asyncio.create_task(self._beat(ws))
        try:
            yield ws
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
            self._note(ws)
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                await self._hang_up()

    async def _beat(self, ws: DiscordWebSocket) -> None:
        """More often than Discord asks for: what is not answered soon was not heard."""
        while True:
            await asyncio.sleep(self._config.beat_seconds)
            try:
                if ws._keep_alive is not None:  # it measures how late answers are
                    await ws.send_heartbeat(ws._keep_alive.beat())
                self._note(ws)
                await self._keep()
            except (OSError, aiohttp.ClientError, discord.ConnectionClosed):
                return  # whoever listens notices too
            except Exception:  # the next beat may do better; without any, the session is lost
                log.exception("heartbeat failed by a defect", extra={"shard": self.id})

    def _note(self, ws: DiscordWebSocket) -> None:
        """Where to go on, and until when everything was heard."""
        if ws.session_id is None or ws.sequence is None:
            return
        silent = monotonic() - self._heard_at
        self._session = replace(
            self._session,
            session_id=ws.session_id,
            sequence=ws.sequence,
            gateway=str(ws.gateway),
            guilds=self._servers.guilds_of(self.id),
            awake_at=round(time() - silent, 1) if self.is_connected else self._session.awake_at,
        )

    async def _keep(self) -> None:
        session = self._session
        if self._unread:
            session = replace(session.ended(), awake_at=min(self._unread))
        await self._memory.keep(session)

    async def _hang_up(self) -> None:
        ws, self._ws = self._ws, None
        if ws is None:
            return
        try:
            async with asyncio.timeout(HANG_UP_SECONDS):
                await ws.close(RESUMABLE_END)
        except (OSError, aiohttp.ClientError):
            pass  # it is gone either way


@contextmanager
def unreadable_frames() -> Iterator[None]:
    """While the library reads what the gateway sent, and does nothing else."""
    try:
        yield
    except UNREADABLE as error:
        raise UpstreamUnavailable(SERVICE, "unreadable frame") from error
