"""How fast files become passages, beside the bare engine: `python -m benchmarks.ingestion`.

An embedder that answers at once leaves what the program itself does; with the local model what is
measured is the share of the time that is not the model's. Seconds are of the processor, all
threads together, so that what else the machine does counts for little.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import qdrant_edge as edge

from benchmarks.filling import DIMENSION, FILES, MODEL, Filling, bare_points, bare_shard
from benchmarks.memory import peak_kilobytes, resident_kilobytes
from benchmarks.pages import SECTIONS, change_pages, write_pages
from rag_core.ingestion.job import IngestionJob, JobStatus
from rag_core.ingestion.pipeline import Ingestion, IngestionRequest
from rag_core.ports import Embedder, Vector
from rag_core.providers.edge.building import GraphRules
from rag_core.providers.edge.points import point_of
from rag_core.providers.edge.shard import open_shard
from rag_core.providers.edge.store import open_edge_store
from rag_core.providers.spare_memory import share_free_memory
from rag_core.storage.books import Books
from rag_core.storage.engines.database import open_database
from rag_core.storage.jobs import Jobs

BOOK = "measured"
PAGES = 512
MEGABYTE = 1024
DIFFERENT = 997


class AtOnce:
    """An Embedder that takes no time: its vectors are made before."""

    model, dimension = "at-once", DIMENSION

    def __init__(self) -> None:
        made = np.random.default_rng(1).normal(size=(DIFFERENT, DIMENSION))
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        self._vectors: list[Vector] = made.tolist()
        self._next = 0

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [await self.embed_query(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        self._next += 1
        return self._vectors[self._next % DIFFERENT]


class Timed:
    """An Embedder whose time is taken."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.seconds = 0.0

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        began = perf_counter()
        vectors = await self._embedder.embed_documents(texts)
        self.seconds += perf_counter() - began
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return await self._embedder.embed_query(text)


@dataclass(frozen=True, slots=True)
class House:
    """An ingestion with its index and its database, and the pages to read."""

    ingestion: Ingestion
    pages: Path

    async def run(self) -> IngestionJob:
        request = IngestionRequest(book_id=BOOK, sources=(str(self.pages),))
        started = await self.ingestion.start(request)
        job = await self.ingestion.wait(started.job_id)
        if job.status is not JobStatus.COMPLETED:
            raise RuntimeError(f"the measured job did not complete: {job.error_message}")
        return job


@asynccontextmanager
async def house(folder: Path, embedder: Embedder) -> AsyncIterator[House]:
    async with (
        open_database(f"sqlite+aiosqlite:///{folder / 'measured.db'}") as database,
        open_edge_store(
            folder / "index", dimension=embedder.dimension, model=embedder.model
        ) as store,
        Ingestion(
            jobs=Jobs(database), books=Books(database), store=store, embedder=embedder
        ) as ingestion,
    ):
        yield House(ingestion, folder / "pages")


async def main() -> None:
    share_free_memory()  # as the running program has it
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    arguments.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.peak:
        print(json.dumps(await (bare_peak if asked.bare else peak)(asked.peak)))
        return
    bare = bare_rate(PAGES)
    await rate(bare)
    for pages in (500, 5_000):
        memory(pages)
    await model_share()


async def rate(bare: float) -> None:
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        write_pages(Path(folder) / "pages", PAGES)
        async with house(Path(folder), AtOnce()) as opened:
            began = process_time()
            job = await opened.run()
            ours = job.chunks_created / (process_time() - began)
            print(
                f"chunks per processor second: bare {bare:,.0f}, ours {ours:,.0f}"
                " (wanted: 10,000 beside a bare 23,000)"
            )
            changed = len(list(change_pages(opened.pages, 0.01)))
            began = process_time()
            job = await opened.run()
            print(
                f"{changed} of {PAGES} files changed, {job.chunks_embedded} chunks embedded:"
                f" {process_time() - began:.3f} processor seconds (wanted: at most 0.05)"
            )


def bare_rate(pages: int) -> float:
    """The same passages, vectors and words, made into points and put into the engine."""
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        shard = bare_shard(Path(folder) / "bare")
        filling = Filling(np.eye(DIMENSION, dtype=np.float32))
        passages = [filling.embedded(BOOK, f"{number:06}.md") for number in range(pages)]
        batches = [
            [each for passage in passages[at : at + 32] for each in passage]
            for at in range(0, pages, 32)
        ]
        began = process_time()
        for batch in batches:
            shard.update(edge.UpdateOperation.upsert_points(list(bare_points(batch))))
        took = process_time() - began
        shard.close()
    return pages * SECTIONS / took


def memory(pages: int) -> None:
    """What an ingestion needs at its height above a process that has loaded the same code."""
    ours, bare = (
        json.loads(
            subprocess.run(
                [sys.executable, "-m", "benchmarks.ingestion", "--peak", str(pages), *flag],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for flag in ([], ["--bare"])
    )
    print(
        f"{pages * SECTIONS:,} chunks: {ours / MEGABYTE:.0f} MB above the base, of which the index"
        f" alone {bare / MEGABYTE:.0f} MB: {(ours - bare) / MEGABYTE:.0f} MB (wanted: at most 60)"
    )


async def peak(pages: int) -> int:
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        write_pages(Path(folder) / "pages", pages)
        async with house(Path(folder), AtOnce()) as opened:
            base = resident_kilobytes()
            await opened.run()
            return peak_kilobytes() - base


async def bare_peak(pages: int) -> int:
    """The engine alone with the same points, payload and payload indexes as an ingestion's."""
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        shard, _ = open_shard(Path(folder) / "bare", DIMENSION, MODEL, GraphRules())
        filling = Filling(np.eye(DIMENSION, dtype=np.float32))
        base = resident_kilobytes()
        for number in range(0, pages, FILES):
            names = [f"{each:06}.md" for each in range(number, min(pages, number + FILES))]
            points = [point_of(each) for name in names for each in filling.embedded(BOOK, name)]
            shard.update(edge.UpdateOperation.upsert_points(points))
        found = peak_kilobytes() - base
        shard.close()
        return found


async def model_share(pages: int = 12) -> None:
    from rag_core.providers.embedders.local import open_local_embedder

    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        write_pages(Path(folder) / "pages", pages)
        async with open_local_embedder() as embedder:
            await embedder.embed_query("loads the model")
            timed = Timed(embedder)
            async with house(Path(folder), timed) as opened:
                began = perf_counter()
                job = await opened.run()
                took = perf_counter() - began
    print(
        f"local model, {job.chunks_created} chunks: {1 - timed.seconds / took:.1%} of the time"
        " is not the model's (wanted: at most 3 %)"
    )


if __name__ == "__main__":
    asyncio.run(main())
