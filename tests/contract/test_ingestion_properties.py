"""What holds of a book after any sequence of edits, and what its readers see meanwhile."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.books.book import BookIds
from rag_core.ingestion.course import course_place
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of
from rag_core.ingestion.identity import content_hash, parent_id, place_of
from rag_core.ingestion.job import IngestionMode, JobStatus
from rag_core.ingestion.loaders import load
from rag_core.ingestion.pipeline import Ingestion, IngestionRequest
from rag_core.ports import EmbeddedQuery, VectorStore
from rag_core.providers.edge.store import open_edge_store
from rag_core.retrieval.results import SearchResult
from tests.builders import NOON
from tests.fakes.embedder import WordEmbedder
from tests.fakes.ingestion_stores import MemoryBooks, MemoryJobs
from tests.peers.qdrant_collection import server_store
from tests.shelf_builders import long_text, write_files

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
EMBEDDER = WordEmbedder()
NAMES = ("a.md", "b.md", "sub/c.md", "sub/README.md", "module-1/chapter-2/03-gears.md", "d.txt")
PARTS = [long_text(word) for word in ("gear", "valve", "motor", "sensor")] + [
    "Short.",
    "A line with enough words to be a chunk of its own.",
    "```python\n" + "print('gear')\n" * 60 + "```",
    "| a | b |\n|---|---|\n" + "| gear | valve |\n" * 30,
]
CLAIMS = ("", "---\nmodule: m\nchapter: 1\nlesson: 1\n---\n", "---\nlesson: 99\nmodule: m\n---\n")


@dataclass(frozen=True)
class Step:
    """What is written and removed before one run."""

    written: Mapping[str, str]
    removed: frozenset[str]
    mode: IngestionMode


texts = st.builds(
    lambda claim, parts: claim + "\n\n".join(f"## Part {n}\n\n{p}" for n, p in enumerate(parts)),
    st.sampled_from(CLAIMS),
    st.lists(st.sampled_from(PARTS), max_size=5),
)
steps = st.builds(
    Step,
    written=st.dictionaries(st.sampled_from(NAMES), texts, max_size=4),
    removed=st.frozensets(st.sampled_from(NAMES), max_size=2),
    mode=st.sampled_from([IngestionMode.INCREMENTAL] * 4 + list(IngestionMode)),
)


@dataclass
class Bench:
    """One store for many books, and the loop that it lives in."""

    runner: asyncio.Runner
    store: VectorStore
    folder: Path


@pytest.fixture(scope="module", params=["edge", "server"])
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("properties")
    opening: AbstractAsyncContextManager[VectorStore]
    if request.param == "server":
        opening = server_store(request.getfixturevalue("qdrant_url"))
    else:
        opening = open_edge_store(
            folder / "index", dimension=EMBEDDER.dimension, model=EMBEDDER.model
        )
    with asyncio.Runner() as runner:
        store = runner.run(opening.__aenter__())
        yield Bench(runner, store, folder)
        runner.run(opening.__aexit__(None, None, None))


@settings(max_examples=200 if FULL else 12)
@given(sequence=st.lists(steps, min_size=1, max_size=5))
def test_whatever_is_edited_a_book_is_whole(bench: Bench, sequence: list[Step]) -> None:
    book = Edited(bench.store, bench.folder / "docs", f"book-{uuid4().hex[:12]}")
    try:
        for step in sequence:
            bench.runner.run(book.take(step))
    finally:
        shutil.rmtree(book.folder, ignore_errors=True)
        bench.runner.run(bench.store.drop_book(book.book_id))


@dataclass
class Edited:
    """A book whose folder is edited, read again and looked at."""

    store: VectorStore
    folder: Path
    book_id: str
    files: dict[str, str] = field(default_factory=dict)
    jobs: MemoryJobs = field(default_factory=MemoryJobs)
    books: MemoryBooks = field(default_factory=MemoryBooks)

    async def take(self, step: Step) -> None:
        before = dict(self.files)
        self._edit(step)
        reading = asyncio.create_task(self._read_meanwhile(before))
        async with Ingestion(
            jobs=self.jobs, books=self.books, store=self.store, embedder=EMBEDDER
        ) as ingestion:
            request = IngestionRequest(
                book_id=self.book_id, sources=(str(self.folder),), mode=step.mode
            )
            job = await ingestion.wait((await ingestion.start(request)).job_id)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        if not reading.cancelled():
            reading.result()
        if self.files:
            assert job.status is JobStatus.COMPLETED, job
            assert job.files_failed == 0, job.failures
            await self._check()
        else:
            assert job.status is JobStatus.FAILED
            self.files = before  # an empty folder never empties a book
            self._edit(Step(written=before, removed=frozenset(), mode=step.mode))

    def _edit(self, step: Step) -> None:
        self.folder.mkdir(exist_ok=True)
        write_files(self.folder, dict(step.written))
        self.files |= step.written
        for name in step.removed & self.files.keys():
            (self.folder / name).unlink()
            del self.files[name]

    async def _read_meanwhile(self, before: Mapping[str, str]) -> None:
        """A reader sees one version of a file at a time; one that stays is never missing."""
        query = EmbeddedQuery(text="gear valve", vector=EMBEDDER.vector("gear valve"))
        own = BookIds([self.book_id])
        stay = [name for name in before if name in self.files and has_own_place(name, before)]
        stay = [name for name in stay if has_own_place(name, self.files)]
        while True:
            seen: dict[str, set[int]] = {}
            for result in await self.store.search(query, books=own, limit=100):
                seen.setdefault(result.source_file, set()).add(result.metadata["version"])
            assert all(len(versions) == 1 for versions in seen.values()), seen
            for name in stay:
                chunks = await self.store.lesson(plain_parent(self.book_id, name), books=own)
                said = [chunk.text for chunk in chunks]
                assert said in [cut(name, before[name]), cut(name, self.files[name])], name
            await asyncio.sleep(0)

    async def _check(self) -> None:
        own = BookIds([self.book_id])
        state = await self.jobs.state(self.book_id)
        assert state.records.keys() == self.files.keys()
        parents: set[str] = set()
        for name, record in state.records.items():
            found = await self.store.chunks(record.chunk_ids, books=own)
            chunks = sorted(found.values(), key=lambda chunk: chunk.chunk_index)
            assert [chunk.chunk_id for chunk in chunks] == list(record.chunk_ids)
            assert [chunk.text for chunk in chunks] == cut(name, self.files[name])
            check_chain(chunks, name)
            if chunks:
                (parent,) = {chunk.parent_doc_id for chunk in chunks}
                assert parent not in parents, f"{name} shares its lesson with another file"
                parents.add(parent)
                lesson = await self.store.lesson(parent, books=own)
                assert [chunk.chunk_id for chunk in lesson] == list(record.chunk_ids)
        book = await self.books.get(self.book_id)
        assert book is not None
        held = await self.store.count(books=own)
        assert (book.files, book.chunks) == (len(self.files), held)
        assert state.total_chunks == held
        whole = {name for name, record in state.records.items() if record.chunk_ids}
        assert (await self.store.shown_versions(self.book_id)).keys() == whole


def check_chain(chunks: Sequence[SearchResult], name: str) -> None:
    """Numbered without a gap, each knowing its neighbours, of one version of one file."""
    ids = [None, *(chunk.chunk_id for chunk in chunks), None]
    assert len(set(ids)) == len(chunks) + 1
    for number, chunk in enumerate(chunks):
        assert (chunk.chunk_index, chunk.total_chunks) == (number, len(chunks))
        assert (chunk.prev_chunk_id, chunk.next_chunk_id) == (ids[number], ids[number + 2])
        assert chunk.source_file == name
        assert chunk.content_hash == content_hash(chunk.text)
    assert len({chunk.metadata["version"] for chunk in chunks}) <= 1
    assert len({chunk.metadata["source_file_hash"] for chunk in chunks}) <= 1


def cut(name: str, text: str) -> list[str]:
    """What a file's chunks are when it is cut alone."""
    document = load(name, text.encode())
    edition = Edition(version=1, created_at=NOON, updated_at=NOON)
    place = course_place(name, document.fields)
    return [c.text for c in chunks_of(document, place, shelf=Shelf(book_id="x"), edition=edition)]


def has_own_place(name: str, files: Mapping[str, str]) -> bool:
    """Whether a file claims no lesson: its parent is its own then, whatever the others do."""
    return course_place(name, load(name, files[name].encode()).fields).claim is None


def plain_parent(book_id: str, name: str) -> str:
    return parent_id(place_of(book_id, source_file=name, claim=None))
