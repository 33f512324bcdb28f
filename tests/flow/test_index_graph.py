"""The embedded index gets its graph beside the one that is read, and writes come first."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from rag_core.books.book import BookIds
from rag_core.errors import ConfigurationError
from rag_core.ports import EmbeddedQuery
from rag_core.providers.edge.building import GraphRules
from rag_core.providers.edge.index_state import STATE_FILE
from rag_core.providers.edge.shard import PLACE, SHARD_FOLDER
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.retrieval.results import SearchResult
from tests.fakes.embedder import WordEmbedder
from tests.shelf_builders import file_chunks, long_text

EMBEDDER = WordEmbedder()
COURSE = BookIds(["course"])
AT_ONCE = GraphRules(exact_up_to=10, quiet_seconds=0.0)
LATER = GraphRules(exact_up_to=10, quiet_seconds=60.0)
NEVER = GraphRules(exact_up_to=1_000, quiet_seconds=0.0)


def opened(folder: Path, rules: GraphRules) -> AbstractAsyncContextManager[EdgeStore]:
    return open_edge_store(folder, dimension=EMBEDDER.dimension, model=EMBEDDER.model, rules=rules)


async def put(store: EdgeStore, file: str, chunks: int = 30, version: int = 1) -> None:
    texts = [long_text(f"{file} gear {n}") for n in range(chunks)]
    await store.add(file_chunks(texts, file=file, version=version))
    await store.show_version(book_id="course", source_file=file, version=version)


async def find(store: EdgeStore, text: str = "gear 7") -> Sequence[SearchResult]:
    query = EmbeddedQuery(text=text, vector=EMBEDDER.vector(text))
    return await store.search(query, books=COURSE, limit=40)


def place_in(folder: Path) -> str:
    state = json.loads((folder / STATE_FILE).read_text())
    return str(state.get(PLACE, SHARD_FOLDER))


def shards_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if each.is_dir()]


async def test_the_index_with_a_graph_holds_and_finds_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path, AT_ONCE) as store:
        await put(store, "a.md")
        before = await find(store)
        await store.settled()
        after = await find(store)
        assert place_in(tmp_path) == "shard-1"
        assert [r.chunk_id for r in after] == [r.chunk_id for r in before]
        assert [r.rank_score for r in after] == pytest.approx([r.rank_score for r in before])
        await put(store, "b.md", chunks=3)
        assert await store.count(books=COURSE) == 33
    assert shards_in(tmp_path) == ["shard-1"]
    async with opened(tmp_path, NEVER) as store:
        assert await store.shown_versions("course") == {"a.md": 1, "b.md": 1}
        assert len(await find(store)) == 33


async def test_scores_are_the_vectors_cosines_however_they_were_found(tmp_path: Path) -> None:
    async with opened(tmp_path, AT_ONCE) as store:
        await put(store, "a.md", chunks=60)
        await store.settled()
        asked = EMBEDDER.vector("gear 7")
        for found in await find(store):
            assert found.vector is not None
            exact = math.fsum(a * b for a, b in zip(asked, found.vector, strict=True))
            assert found.similarity_score == pytest.approx(exact, abs=1e-6)


async def test_an_index_from_before_there_were_coarse_vectors_is_read_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr("rag_core.providers.edge.shard.COARSE", None)
        async with opened(tmp_path, AT_ONCE) as store:
            await put(store, "a.md", chunks=60)
            await store.settled()
            found = await find(store)
    async with opened(tmp_path, NEVER) as store:
        assert [r.chunk_id for r in await find(store)] == [r.chunk_id for r in found]
    async with opened(tmp_path, AT_ONCE) as store:
        await put(store, "b.md", chunks=3)
        await store.settled()
        assert await store.count(books=COURSE) == 63


async def test_a_small_index_is_compared_exactly_and_stays_where_it_is(tmp_path: Path) -> None:
    async with opened(tmp_path, NEVER) as store:
        await put(store, "a.md")
        await store.settled()
        assert place_in(tmp_path) == SHARD_FOLDER


async def test_a_write_stops_the_building_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    async with opened(tmp_path, AT_ONCE) as store:
        for version in range(1, 6):
            await put(store, "a.md", chunks=20 + version, version=version)
            await asyncio.sleep(0.05 * version)  # at another step of the building each time
            assert len(await find(store)) == 20 + version
        await store.settled()
        assert await store.shown_versions("course") == {"a.md": 5}
        assert len(await find(store)) == 25
    async with opened(tmp_path, NEVER) as store:
        assert len(await find(store)) == 25


async def test_readers_go_on_while_the_shard_changes_its_place(tmp_path: Path) -> None:
    async with opened(tmp_path, AT_ONCE) as store:
        await put(store, "a.md")
        sizes = set()
        settled = asyncio.create_task(store.settled())
        while not settled.done():
            sizes.add(len(await find(store)))
            await asyncio.sleep(0)
        await settled
    assert sizes == {30}


async def test_the_end_does_not_wait_for_the_building(tmp_path: Path) -> None:
    async with opened(tmp_path, LATER) as store:
        await put(store, "a.md")
    async with opened(tmp_path, AT_ONCE) as store:
        await asyncio.sleep(0.1)  # the other process is at work
    async with opened(tmp_path, NEVER) as store:
        assert len(await find(store)) == 30
    assert len(shards_in(tmp_path)) == 1


async def test_what_a_crash_left_of_a_change_of_place_is_removed(tmp_path: Path) -> None:
    async with opened(tmp_path, NEVER) as store:
        await put(store, "a.md")
    (tmp_path / "shard-1").mkdir()
    (tmp_path / "shard-1" / "half").write_text("of a copy")
    async with opened(tmp_path, NEVER) as store:
        assert len(await find(store)) == 30
        assert not (tmp_path / "shard-1").exists()


async def test_an_index_of_another_layout_is_refused_with_what_to_do(tmp_path: Path) -> None:
    async with opened(tmp_path, NEVER) as store:
        await put(store, "a.md")
    state = json.loads((tmp_path / STATE_FILE).read_text())
    (tmp_path / STATE_FILE).write_text(json.dumps(state | {"layout": 1}))
    with pytest.raises(ConfigurationError, match="footnote ingest"):
        async with opened(tmp_path, NEVER):
            pass
