"""Where the embedded index lives: its folder, its engine, and the threads that may use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import qdrant_edge as edge

from rag_core.providers.edge.building import GraphRules, copy, left_to_build
from rag_core.providers.edge.index_state import STATE_FILE, write_state
from rag_core.providers.edge.reader import Reader
from rag_core.providers.edge.shard import (
    PLACE,
    SHARD_FOLDER,
    clear_others,
    edge_errors,
    load_shard,
    next_place,
    open_shard,
    written_out,
)
from rag_core.providers.edge.space import LEAST, check_space, give_up_spare, length_of
from rag_core.providers.index.payload import NARROWING
from rag_core.providers.index.visibility import View

P = ParamSpec("P")
T = TypeVar("T")

UNFLUSHED = 30_000
"""Passages that may stand in the engine's log alone. Whoever opens the index after a kill waits
until they are written anew, fifteen thousand in a second; but nothing else in the process runs
during a flush, for as long as the disk takes."""
GROWTH = 2
"""How many times as long as the index is what is written for a graph: a copy, and its new files."""


class EdgeHome:
    """One folder, held by one process; the shard in it may move to another place there."""

    def __init__(
        self, folder: Path, shard: edge.EdgeShard, state: dict[str, Any], rules: GraphRules
    ) -> None:
        self.folder = folder
        self.shard = shard
        self.rules = rules
        self._state = state
        self._unflushed = 0
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index-writer")
        self._reader = Reader("index-reader")

    def left(self, key: str) -> list[str]:
        """What an earlier process noted and did not finish."""
        return list(self._state.get(key, ()))

    async def read(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._reader.read(partial(self._explained, work, *args, **kwargs))

    async def write(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        run = partial(self._explained, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._writer, run)

    def _explained(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with edge_errors(self.folder):
            return work(*args, **kwargs)

    async def note(self, view: View) -> None:
        """Write down what readers may see, and where the shard is."""
        state = self._state | {"hidden": sorted(view.hidden), "dropped": sorted(view.dropped)}
        await self.write(write_state, self.folder / STATE_FILE, state)

    async def needs_graph(self) -> bool:
        return await self.write(left_to_build, self.shard) > self.rules.exact_up_to

    async def copied(self) -> Path:
        """A copy of all that was written so far, in the place after this one.

        What the engine did not flush yet is in the log of its writes, which is copied, too: whoever
        opens the copy reads it from there. A flush waits for the disk, and the whole process with
        it, for half a second and more."""
        target = next_place(self._place)
        await self.write(self._copy, target)
        return target

    def _copy(self, target: Path) -> None:
        check_space(self.folder, needed=LEAST + GROWTH * length_of(self._place))
        copy(self._place, target)

    async def flush(self) -> None:
        """Have everything on the disk."""
        self._unflushed = 0
        await self.write(written_out, self._place)
        await self.write(give_up_spare, self.folder)
        await self.write(self.shard.flush)

    async def wrote(self, passages: int) -> None:
        """Keep the log short, however much is read in one after the other."""
        self._unflushed += passages
        if self._unflushed >= UNFLUSHED:
            await self.flush()

    async def move(self, target: Path) -> edge.EdgeShard:
        """Use the shard there from now on; the one from before is still open."""
        before = self.shard
        dimension = int(self._state["dimension"])
        self.shard = await self.write(load_shard, target, dimension, self.rules)
        self._state[PLACE] = target.name
        return before

    async def tidy(self, before: edge.EdgeShard | None = None) -> None:
        """Close the shard from before, and remove what is not in use."""
        if before is not None:
            await self._take_apart(before)
        await self.write(clear_others, self.folder, self._place.name)

    async def _take_apart(self, shard: edge.EdgeShard) -> None:
        """Nothing else in the process runs during a call of the engine, and to close a shard takes
        long: it writes down what it holds and frees it. So it is done in pieces, others between."""
        for place in {*self.folder.glob(f"{SHARD_FOLDER}*")} - {self._place}:
            await self.write(written_out, place)
        for name in NARROWING:
            await self.write(shard.update, edge.UpdateOperation.delete_field_index(name))
        await self.write(shard.flush)
        await self.write(shard.close)

    @property
    def _place(self) -> Path:
        return self.folder / str(self._state.get(PLACE, SHARD_FOLDER))

    async def close(self) -> None:
        await self._reader.close()
        await asyncio.to_thread(self._close_now)

    def _close_now(self) -> None:
        self._writer.shutdown()
        with edge_errors(self.folder):
            give_up_spare(self.folder)
            self.shard.flush()
            self.shard.close()


async def open_home(folder: Path, *, dimension: int, model: str, rules: GraphRules) -> EdgeHome:
    shard, state = await asyncio.to_thread(open_shard, folder, dimension, model, rules)
    return EdgeHome(folder, shard, state, rules)
