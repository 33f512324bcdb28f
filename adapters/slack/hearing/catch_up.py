"""What was said while the bot was away, read in every workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from adapters.slack.calling.team import Team
from adapters.slack.hearing.backfill import Backfill
from adapters.slack.installing.teams import Teams

LOOK_SECONDS = 2.0
"""Between two looks at which workspaces have joined and left."""


class CatchUp:
    """One reader a workspace: a slow one holds up no other."""

    def __init__(self, teams: Teams, *, reads: Callable[[Team], Backfill]) -> None:
        self._teams = teams
        self._reads = reads
        self._readers: dict[Team, Backfill] = {}
        self._changing = asyncio.Lock()
        self._is_connected = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async with self._changing:
            for reader in self._readers.values():
                await reader.__aexit__(kind, error, trace)
            self._readers.clear()

    async def connected(self) -> None:
        """Events come again from now on, for every workspace over the same connection."""
        self._is_connected = True
        async with self._changing:
            for team in self._teams.all():
                await self._read(team)

    async def watch(self) -> None:
        """Until cancelled: begin where a workspace has joined, end where one has left."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            async with self._changing:
                present = self._teams.all() if self._is_connected else []
                for team in present:
                    if team not in self._readers:
                        await self._read(team)
                for team in self._readers.keys() - set(present):
                    await self._readers.pop(team).__aexit__(None, None, None)

    async def _read(self, team: Team) -> None:
        if team not in self._readers:
            self._readers[team] = await self._reads(team).__aenter__()
        await self._readers[team].connected()
