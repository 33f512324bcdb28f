"""A full disk ends no process: the index says so, keeps what it has, and goes on later."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import SimpleNamespace

import pytest

from rag_core.books.book import BookIds
from rag_core.errors import StorageError, StorageFull
from rag_core.ports import EmbeddedQuery
from rag_core.providers.edge.building import GraphRules
from rag_core.providers.edge.index_state import STATE_FILE
from rag_core.providers.edge.shard import PLACE
from rag_core.providers.edge.space import LEAST, check_space, length_of
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.retrieval.results import SearchResult
from tests.fakes.embedder import WordEmbedder
from tests.shelf_builders import file_chunks, long_text

EMBEDDER = WordEmbedder()
COURSE = BookIds(["course"])
AT_ONCE = GraphRules(exact_up_to=10, quiet_seconds=0.0)
NEVER = GraphRules(exact_up_to=1_000, quiet_seconds=0.0)


class Disk:
    """As free as a test wants it to be."""

    def __init__(self) -> None:
        self.free = 2**40

    def usage(self, folder: Path) -> SimpleNamespace:
        assert folder.is_dir()
        return SimpleNamespace(free=self.free)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr("shutil.disk_usage", disk.usage)
    return disk


def opened(folder: Path, rules: GraphRules = NEVER) -> AbstractAsyncContextManager[EdgeStore]:
    return open_edge_store(folder, dimension=EMBEDDER.dimension, model=EMBEDDER.model, rules=rules)


async def put(store: EdgeStore, file: str, version: int = 1) -> None:
    texts = [long_text(f"{file} gear {n}") for n in range(30)]
    await store.add(file_chunks(texts, file=file, version=version))
    await store.show_version(book_id="course", source_file=file, version=version)


async def find(store: EdgeStore) -> Sequence[SearchResult]:
    query = EmbeddedQuery(text="gear 7", vector=EMBEDDER.vector("gear 7"))
    return await store.search(query, books=COURSE, limit=100)


def unseen_in(folder: Path) -> list[str]:
    state = json.loads((folder / STATE_FILE).read_text())
    return list(state["hidden"])


def places_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.is_dir())


async def test_a_new_index_needs_space_to_begin_with(tmp_path: Path, disk: Disk) -> None:
    disk.free = LEAST - 1
    with pytest.raises(StorageFull, match=r"Only 63 MB are free .* Free some space"):
        async with opened(tmp_path / "index"):
            pass
    disk.free = LEAST
    async with opened(tmp_path / "index") as store:
        await put(store, "a.md")
        assert len(await find(store)) == 30


async def test_a_full_disk_takes_no_passage_in_and_none_away(tmp_path: Path, disk: Disk) -> None:
    async with opened(tmp_path) as store:
        await put(store, "a.md")
        disk.free = 10 * 2**20
        with pytest.raises(StorageFull, match="Only 10 MB are free"):
            await put(store, "a.md", version=2)
        assert await store.shown_versions("course") == {"a.md": 1}
        assert len(await find(store)) == 30
        disk.free = 2**40
        await put(store, "a.md", version=2)
        assert await store.shown_versions("course") == {"a.md": 2}
        assert len(await find(store)) == 30
    disk.free = 0  # what is there is read however full the disk is
    async with opened(tmp_path) as store:
        assert len(await find(store)) == 30


async def test_what_could_not_be_taken_away_is_not_seen_and_goes_later(
    tmp_path: Path, disk: Disk
) -> None:
    async with opened(tmp_path) as store:
        await put(store, "a.md")
        disk.free = 2**20
        with pytest.raises(StorageFull, match="Only 1 MB"):
            await store.show_version(book_id="course", source_file="a.md", version=None)
        assert not await find(store)
    async with opened(tmp_path) as store:  # to clear up is no reason not to start
        assert not await find(store)
        assert not await store.shown_versions("course")
    assert unseen_in(tmp_path) == ["course/1/a.md"]
    disk.free = 2**40
    async with opened(tmp_path) as store:
        assert not await store.shown_versions("course")
    assert unseen_in(tmp_path) == []


async def test_a_graph_is_not_begun_where_it_would_fill_the_disk(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path, AT_ONCE) as store:
        disk.free = LEAST + 2**20  # enough for passages
        await put(store, "a.md")
        with caplog.at_level(logging.WARNING):
            await store.settled()
        assert "searches stay slower" in caplog.text
        assert "MB are free" in caplog.text
        assert places_in(tmp_path) == ["shard"]
        assert len(await find(store)) == 30
        disk.free = LEAST + 3 * length_of(tmp_path)
        await put(store, "b.md")
        await store.settled()
        assert places_in(tmp_path) == ["shard-1"]


async def test_a_copy_that_came_to_nothing_takes_no_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def killed(folder: Path) -> None:
        assert length_of(folder)
        raise ChildProcessError("killed: no space")

    monkeypatch.setattr("rag_core.providers.edge.store.build_in_child", killed)
    async with opened(tmp_path, AT_ONCE) as store:
        await put(store, "a.md")
        await store.settled()
        assert places_in(tmp_path) == ["shard"]
        assert PLACE not in json.loads((tmp_path / STATE_FILE).read_text())
        assert len(await find(store)) == 30


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"gone of the index .*No such file"):
        check_space(tmp_path / "gone")
