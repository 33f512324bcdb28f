"""Gateway sessions that outlive the process, and how many new ones may still begin."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from time import time

from rag_core.errors import StorageError
from rag_core.ports import MarkerStore

log = logging.getLogger(__name__)

IDENTIFIES_AN_HOUR = 10
HOUR = 3_600.0
STORAGE_PAUSE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSession:
    """What a RESUME needs, and until when everything was heard."""

    awake_at: float = 0.0
    """Seconds since 1970; 0: never."""
    session_id: str | None = None
    sequence: int | None = None
    gateway: str | None = None
    guilds: tuple[int, ...] = ()
    """Of a RESUME Discord does not tell them again."""

    @property
    def is_resumable(self) -> bool:
        return self.session_id is not None and self.sequence is not None

    def ended(self) -> SavedSession:
        """Discord does not know this session any more."""
        return SavedSession(awake_at=self.awake_at, guilds=self.guilds)


class SessionMemory:
    """Keeps the session of one shard on disk."""

    def __init__(self, markers: MarkerStore, name: str) -> None:
        self._markers = markers
        self._name = f"discord:session:{name}"
        self._kept: SavedSession | None = None

    async def load(self) -> SavedSession:
        """What was saved; nothing where that cannot be read."""
        try:
            found = await self._markers.get(self._name)
            read = json.loads(found) if found else {}
            return SavedSession(**{**read, "guilds": tuple(read.get("guilds", ()))})
        except (StorageError, ValueError, TypeError) as error:
            log.warning("no Discord session to resume", extra={"cause": type(error).__name__})
            return SavedSession()

    async def keep(self, session: SavedSession) -> None:
        """Best effort: without it the next process begins a new session."""
        if session == self._kept:
            return
        try:
            await self._markers.set(self._name, json.dumps(asdict(session)))
        except StorageError as error:
            log.warning("Discord session not kept", extra={"cause": str(error)})
        else:
            self._kept = session


class IdentifyBudget:
    """At most ten new sessions an hour after ends that were not clean: Discord resets the token
    of a bot that begins a thousand a day, as one that crashes at every start does."""

    def __init__(self, markers: MarkerStore, name: str, *, now: Callable[[], float] = time) -> None:
        self._markers = markers
        self._name = f"discord:identifies:{name}"
        self._now = now
        self._own: list[float] = []
        self._spending = asyncio.Lock()

    async def spend(self) -> None:
        """Count one new session, once there may be one."""
        async with self._spending:
            while True:
                try:
                    pause = await self._spent()
                except StorageError as error:
                    log.warning("sessions cannot be counted", extra={"cause": str(error)})
                    pause = STORAGE_PAUSE
                if not pause:
                    return
                await asyncio.sleep(pause)

    async def forgive(self) -> None:
        """The end was clean: what this process began does not count."""
        kept = [moment for moment in await self._recent() if moment not in self._own]
        self._own.clear()
        await self._save(kept)

    async def _spent(self) -> float:
        """How long to wait; nothing: it was counted."""
        recent = await self._recent()
        if len(recent) < IDENTIFIES_AN_HOUR:
            now = self._now()
            self._own.append(now)
            await self._save([*recent, now])
            return 0.0
        goes_on = recent[-IDENTIFIES_AN_HOUR] + HOUR
        log.warning(
            "%s Discord sessions began within an hour after ends that were not clean: I look for"
            " no new one before %s. Find out why I ended; `footnote doctor` may know.",
            len(recent),
            datetime.fromtimestamp(goes_on, UTC).strftime("%H:%M:%S UTC"),
        )
        return max(goes_on - self._now(), 0.01)

    async def _recent(self) -> list[float]:
        found = await self._markers.get(self._name)
        moments = json.loads(found) if found else []
        return sorted(moment for moment in moments if moment > self._now() - HOUR)

    async def _save(self, moments: list[float]) -> None:
        await self._markers.set(self._name, json.dumps(moments))
