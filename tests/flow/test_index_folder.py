"""The embedded index and its folder: across restarts, kills, second processes and damage."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sys
from pathlib import Path

import pytest

from rag_core.books.book import BookIds
from rag_core.errors import ConfigurationError, FolderInUse, StorageError
from rag_core.ports import EmbeddedQuery
from rag_core.providers.edge.index_state import indexed_model
from rag_core.providers.edge.shard import explained
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from tests.fakes.embedder import WordEmbedder
from tests.shelf_builders import file_chunks, long_text

EMBEDDER = WordEmbedder()
COURSE = BookIds(["course"])
ROOT = Path(__file__).parents[2]

WRITER = """
import asyncio, os, pathlib, signal, sys
from rag_core.providers.edge.store import open_edge_store
from tests.fakes.embedder import WordEmbedder
from tests.shelf_builders import file_chunks, long_text

async def main(folder, stop_before):
    model = WordEmbedder()
    async with open_edge_store(
        pathlib.Path(folder), dimension=model.dimension, model=model.model
    ) as store:
        for version in range(1, 100):
            texts = [long_text(f"gear {n} of {version}") for n in range(version + 1)]
            await store.add(file_chunks(texts, version=version))
            if version == 3 and stop_before == "show":
                os.kill(os.getpid(), signal.SIGKILL)
            showing = store.show_version(book_id="course", source_file="page.md", version=version)
            if version == 3 and stop_before == "end":
                store._delete = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            await showing

asyncio.run(main(*sys.argv[1:]))
"""


def opened(folder: Path, *, dimension: int = EMBEDDER.dimension, model: str = EMBEDDER.model):  # type: ignore[no-untyped-def]
    return open_edge_store(folder, dimension=dimension, model=model)


async def seen(store: EdgeStore) -> set[tuple[int, int]]:
    """Each version that a reader finds, with how many of its chunks."""
    query = EmbeddedQuery(text="gear", vector=EMBEDDER.vector("gear"))
    found = [r.metadata["version"] for r in await store.search(query, books=COURSE, limit=100)]
    return {(version, found.count(version)) for version in found}


async def test_an_index_is_there_again_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path / "index") as store:
        await store.add(file_chunks([long_text("gear"), long_text("oven")]))
        await store.show_version(book_id="course", source_file="page.md", version=1)
    async with opened(tmp_path / "index") as store:
        assert await seen(store) == {(1, 2)}
        assert await store.shown_versions("course") == {"page.md": 1}


@pytest.mark.parametrize(("stop_before", "version"), [("show", 2), ("end", 3)])
async def test_a_kill_between_two_versions_leaves_exactly_one(
    tmp_path: Path, stop_before: str, version: int
) -> None:
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(tmp_path / "index"), stop_before, cwd=ROOT
    )
    assert await killed.wait() == -signal.SIGKILL
    async with opened(tmp_path / "index") as store:
        assert await seen(store) == {(version, version + 1)}
        assert await store.count(books=COURSE) == version + 1
        # What the kill left behind is not in the way of the same version coming again.
        await store.add(file_chunks([long_text("gear")], version=version + 1))
        await store.show_version(book_id="course", source_file="page.md", version=version + 1)
        assert await seen(store) == {(version + 1, 1)}


async def test_a_second_process_is_told_that_the_folder_is_in_use(tmp_path: Path) -> None:
    async with opened(tmp_path / "index"):
        with pytest.raises(FolderInUse, match="Another process"):
            async with opened(tmp_path / "index"):
                pass
    async with opened(tmp_path / "index") as store:
        assert await store.count(books=COURSE) == 0


async def test_another_model_or_dimension_is_refused_by_name(tmp_path: Path) -> None:
    assert indexed_model(tmp_path / "index") is None
    async with opened(tmp_path / "index"):
        pass
    assert indexed_model(tmp_path / "index") == EMBEDDER.model
    with pytest.raises(ConfigurationError, match=r"words-64.*other-model"):
        async with opened(tmp_path / "index", model="other-model"):
            pass
    with pytest.raises(ConfigurationError, match=r"64 dimensions.*128"):
        async with opened(tmp_path / "index", dimension=128):
            pass


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00\x01"])
async def test_a_damaged_state_file_is_a_clear_error(tmp_path: Path, content: str) -> None:
    async with opened(tmp_path / "index"):
        pass
    (tmp_path / "index" / "index.json").write_text(content)
    with pytest.raises(StorageError, match=r"index\.json"):
        async with opened(tmp_path / "index"):
            pass


async def test_a_damaged_index_is_a_clear_error(tmp_path: Path) -> None:
    async with opened(tmp_path / "index") as store:
        await store.add(file_chunks([long_text("gear")]))
    (tmp_path / "index" / "shard" / "edge_config.json").write_text("{")
    with pytest.raises(StorageError, match="move the index's folder away") as refused:
        async with opened(tmp_path / "index"):
            pass
    assert "qdrant" not in str(refused.value).lower()


async def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError):
        async with opened(tmp_path / "file" / "index"):
            pass


async def test_a_first_start_that_was_cut_off_is_made_good(tmp_path: Path) -> None:
    async with opened(tmp_path / "index"):
        pass
    (tmp_path / "index" / "index.json").unlink()
    async with opened(tmp_path / "index") as store:
        assert await store.count(books=COURSE) == 0


async def test_the_state_file_never_holds_text(tmp_path: Path) -> None:
    async with opened(tmp_path / "index") as store:
        await store.add(file_chunks([long_text("secret recipe")]))
        state = json.loads((tmp_path / "index" / "index.json").read_text())
    assert state["hidden"] == ["course/1/page.md"]
    assert "secret" not in json.dumps(state)


def test_a_full_disk_is_named() -> None:
    folder = Path("index")
    assert "no space" in str(explained("IO error: No space left on device (os error 28)", folder))


async def test_whoever_opens_the_index_after_a_kill_has_little_to_write_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much was read in one after the other, nearly all of it is outside the log."""
    monkeypatch.setattr("rag_core.providers.edge.home.UNFLUSHED", 50)
    async with opened(tmp_path / "running") as store:
        for number in range(5):
            texts = [long_text(f"gear {number} {n}") for n in range(30)]
            await store.add(file_chunks(texts, file=f"{number}.md"))
            await store.show_version(book_id="course", source_file=f"{number}.md", version=1)
        shutil.copytree(tmp_path / "running", tmp_path / "copied")
    (log,) = (tmp_path / "copied").rglob("wal")
    shutil.rmtree(log)
    log.mkdir()
    async with opened(tmp_path / "copied") as store:
        assert await store.count(books=COURSE) >= 100
