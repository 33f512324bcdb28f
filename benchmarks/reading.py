"""How long questions wait while a book is read, beside quiet: `python -m benchmarks.reading`.

The local model embeds both. Each question is a new one, and comes whether or not the one before was
answered; its time is the way from its words to the passages.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.pages import Writer, write_pages
from benchmarks.stalls import stalls
from bot.interpreter import short_turns
from rag_core.books.book import BookIds
from rag_core.ingestion.pipeline import Ingestion, IngestionRequest
from rag_core.providers.edge.store import open_edge_store
from rag_core.providers.embedders.local import open_local_embedder
from rag_core.providers.spare_memory import share_free_memory
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.retriever import Retriever
from rag_core.storage.books import Books
from rag_core.storage.engines.database import open_database
from rag_core.storage.jobs import Jobs

BOOK = "library"
FIRST_PAGES = 8
"""Are there when questions begin to come."""
PAGES = 512
"""Are being read meanwhile: more than there is time for."""
EVERY = 0.05
QUESTIONS = 200


@dataclass(frozen=True, slots=True)
class House:
    """What reads and what answers."""

    ingestion: Ingestion
    retriever: Retriever
    folder: Path

    def request(self, pages: int) -> IngestionRequest:
        return IngestionRequest(book_id=BOOK, sources=(str(self.folder / str(pages)),))

    async def asked(self, text: str) -> float:
        """Seconds that one question took."""
        began = perf_counter()
        await self.retriever.search(SearchQuery(text=text, book_ids=BookIds([BOOK]), audience=None))
        return perf_counter() - began


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    for pages in (FIRST_PAGES, PAGES):
        write_pages(folder / str(pages), pages)
    async with (
        open_database(f"sqlite+aiosqlite:///{folder / 'measured.db'}") as database,
        open_local_embedder() as embedder,
        open_edge_store(
            folder / "index", dimension=embedder.dimension, model=embedder.model
        ) as store,
        Ingestion(
            jobs=Jobs(database), books=Books(database), store=store, embedder=embedder
        ) as ingestion,
    ):
        yield House(ingestion, Retriever(embedder=embedder, store=store), folder)


async def main() -> None:
    share_free_memory()  # as the running program has it
    writer = Writer(1)
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        async with house(Path(folder)) as opened:
            first = await opened.ingestion.start(opened.request(FIRST_PAGES))
            await opened.ingestion.wait(first.job_id)
            with short_turns():  # as the running program has them
                await measure("quiet", opened, writer)
                book = await opened.ingestion.start(opened.request(PAGES))
                await measure("while a book is read", opened, writer)
                if not await opened.ingestion.cancel(book.job_id):
                    raise RuntimeError("the book was read before the questions were asked")


async def measure(when: str, opened: House, writer: Writer) -> None:
    async with stalls() as late:
        waited = await steadily(opened, [writer.question() for _ in range(QUESTIONS)])
    wanted = "" if when == "quiet" else " (wanted: 50, 250; 50, 250)"
    print(
        f"{when:<22} p50 {at(waited, 0.5):6.1f} ms, p99 {at(waited, 0.99):6.1f};"
        f" the event loop late by p99.9 {at(late, 0.999):5.1f}, at most {at(late, 1):5.1f}{wanted}"
    )


async def steadily(opened: House, questions: Sequence[str]) -> list[float]:
    """Twenty a second, and what each took."""
    asking = []
    for text in questions:
        asking.append(asyncio.create_task(opened.asked(text)))
        await asyncio.sleep(EVERY)
    return list(await asyncio.gather(*asking))


def at(seconds: Sequence[float], share: float) -> float:
    """In milliseconds, what so large a share took no longer than."""
    ordered = sorted(seconds)
    return 1e3 * ordered[min(len(ordered) - 1, int(len(ordered) * share))]


if __name__ == "__main__":
    asyncio.run(main())
