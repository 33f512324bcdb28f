"""Builds the embedded index's graph in a process of its own, beside the one that is read.

The engine builds it in one call during which nothing else runs in its process: no search, no
heartbeat. So a copy is worked on by another process, and takes the place of the first one when
nothing was written meanwhile. A write comes first: it stops the work, which begins anew later.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import qdrant_edge as edge

log = logging.getLogger(__name__)

NICENESS = 10
KILOBYTE, FLOAT_BYTES = 1024, 4
MORE_PATIENT = 2
MOST_PATIENT = 32
"""Times the quiet that is usually waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRules:
    """When the index gets a graph."""

    exact_up_to: int = 5_000
    """Passages that are compared one by one; the graph pays only above that."""
    quiet_seconds: float = 5.0
    """Nothing is built while files come in one after the other."""

    def optimizers(self, dimension: int) -> edge.EdgeOptimizersConfig:
        """The engine counts in kilobytes what we count in passages."""
        size = self.exact_up_to * dimension * FLOAT_BYTES // KILOBYTE
        return edge.EdgeOptimizersConfig(indexing_threshold=max(1, size))


def left_to_build(shard: edge.EdgeShard) -> int:
    """Passages whose vectors are in no graph yet. The words of all are indexed at once, and the
    engine counts a passage's vector and its words as two."""
    info = shard.info()
    return max(0, 2 * info.points_count - info.indexed_vectors_count)


class Building:
    """The one task that builds, if there is something to build and nobody writes."""

    def __init__(self, build: Callable[[], Awaitable[None]], *, quiet_seconds: float) -> None:
        self._build = build
        self._quiet_seconds = quiet_seconds
        self._patience = 1
        self._begun = False
        self._task: asyncio.Task[None] | None = None

    def soon(self) -> None:
        """Build when it has been quiet for a while."""
        self._task = asyncio.create_task(self._work(), name="building the index")

    async def stop(self) -> None:
        """End what is under way; called by who holds the right to write. What was done is lost, so
        the next time it must be quiet for longer: a slow embedder writes every ten seconds."""
        if self._task is None:
            return
        if self._begun and not self._task.done():
            self._patience = min(MOST_PATIENT, self._patience * MORE_PATIENT)
        self._task.cancel()
        await asyncio.wait([self._task])
        self._task = None

    async def settled(self) -> None:
        """Wait until all that is wanted so far is built, or was given up for a write."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _work(self) -> None:
        await asyncio.sleep(self._quiet_seconds * self._patience)
        self._begun = True
        try:
            await self._build()
            self._patience = 1
        except Exception:  # the index is complete without a graph, and slower
            log.warning("the index could not be built anew; searches stay slower", exc_info=True)
        finally:
            self._begun = False


async def build_in_child(shard_folder: Path) -> None:
    """Build a copy's graph; cancelled, nothing is left running."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, str(shard_folder), stdin=asyncio.subprocess.DEVNULL
    )
    try:
        if await process.wait() != 0:
            raise ChildProcessError(f"building {shard_folder.name} ended with an error")
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def copy(shard_folder: Path, target: Path) -> None:
    """Blocks."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(shard_folder, target)


def main(folder: str) -> None:
    """Build the graph of the shard in this folder."""
    os.nice(NICENESS)
    shard = edge.EdgeShard.load(folder)
    shard.optimize()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    main(sys.argv[1])
