"""What was said while the bot was away, read in every workspace."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from adapters.slack.calling.team import Team
from adapters.slack.hearing.backfill import Backfill
from adapters.slack.installing.teams import Teams
from rag_core.conversation.key import TenantId
from rag_core.errors import FootnoteError

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""Between two looks at which workspaces have joined and left."""


class CatchUp:
    """One reader a workspace: a slow one holds up no other."""

    def __init__(
        self,
        teams: Teams,
        *,
        reads: Callable[[Team], Backfill],
        serves: Callable[[TenantId], Awaitable[bool]],
    ) -> None:
        self._teams = teams
        self._serves = serves
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
            for team in await self._served():
                await self._read(team)

    async def watch(self) -> None:
        """Until cancelled: begin where a workspace has joined, end where one has left."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            async with self._changing:
                present = await self._served() if self._is_connected else []
                for team in present:
                    if team not in self._readers:
                        await self._read(team)
                for team in self._readers.keys() - set(present):
                    await self._readers.pop(team).__aexit__(None, None, None)

    async def _served(self) -> Sequence[Team]:
        """Nothing is read in a workspace that is not served; where that cannot be looked up, those
        that are read already."""
        try:
            return [t for t in self._teams.all() if await self._serves(t.workspace.team_id)]
        except FootnoteError as error:
            log.warning("workspaces not looked up", extra={"cause": str(error)})
            return list(self._readers)

    async def _read(self, team: Team) -> None:
        if team not in self._readers:
            self._readers[team] = await self._reads(team).__aenter__()
        await self._readers[team].connected()
