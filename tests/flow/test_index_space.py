"""A full disk ends no process: the index says so, keeps what it has, and goes on later."""

from __future__ import annotations

import asyncio
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
from rag_core.providers.edge.space import (
    LEAST,
    SPARE,
    SPARE_FILE,
    check_space,
    free_bytes,
    give_up_spare,
    holes_in,
    keep_spare,
    length_of,
    missing_in,
    reads_take_space,
    reserve_to_open,
)
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.retrieval.results import SearchResult
from tests.fakes.embedder import WordEmbedder
from tests.memory import memory_folder
from tests.shelf_builders import file_chunks, long_text
from tests.small_disk import on_small_disk, own_mounts

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


def with_hole(file: Path, size: int) -> Path:
    """A file of which only the first bytes were ever written."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as opened:
        opened.write(b"begun" * 2_000)
        opened.truncate(size)
    return file


def test_a_disk_in_memory_must_have_room_for_what_was_never_written(tmp_path: Path) -> None:
    large = with_hole(tmp_path / "large", 16 * 2**20)
    reserve_to_open(tmp_path, takes_space=lambda hole: False)
    assert missing_in(large) > 15 * 2**20, "any other disk keeps its space"
    reserve_to_open(tmp_path, takes_space=lambda hole: True)
    assert holes_in(tmp_path) == []
    assert large.read_bytes().startswith(b"begunbegun")
    too_large = with_hole(tmp_path / "too large", free_bytes(tmp_path) + 2**30)
    with pytest.raises(StorageFull, match=r"to open the index there takes .* disk is in memory"):
        reserve_to_open(tmp_path, takes_space=lambda hole: True)
    assert missing_in(too_large) > 2**30, "what would not do takes nothing"


def test_whether_reading_takes_space_is_tried(tmp_path: Path) -> None:
    folder = memory_folder()
    if folder is not None:
        hole = with_hole(folder / f"{tmp_path.name}-hole", 2**22)
        try:
            assert reads_take_space(hole)
        finally:
            hole.unlink()
    whole = tmp_path / "whole"
    whole.write_bytes(b"x" * 10_000)
    assert not reads_take_space(whole)


def test_space_for_closing_is_kept_until_it_is_needed(tmp_path: Path) -> None:
    keep_spare(tmp_path)
    spare = tmp_path / SPARE_FILE
    assert (spare.stat().st_size, missing_in(spare)) == (SPARE, 0)
    give_up_spare(tmp_path)
    assert spare.exists(), "there is room"


async def test_a_full_disk_in_memory_refuses_with_a_sentence_and_the_process_lives(
    tmp_path: Path,
) -> None:
    command = own_mounts()
    if command is None:  # no small disk can be made here: the same rules on files alone
        test_a_disk_in_memory_must_have_room_for_what_was_never_written(tmp_path)
        return
    ran = await asyncio.to_thread(on_small_disk, command, tmp_path)
    assert ran.returncode == 0, ran.stderr
    new, full, *hardly, filled_later, roomy = ran.stdout.splitlines()
    assert new == "new, then full: 30 found"
    assert "StorageFull: There is no space for 2 MB" in full
    assert all("StorageFull: Only" in line for line in hardly)
    assert filled_later == "opened with room, then full: 30 found"
    assert roomy == "opened with room: 30 found"
