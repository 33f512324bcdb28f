"""An index on a disk in memory that fills up, in a process that must live: run as a module."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

from rag_core.books.book import BookIds
from rag_core.errors import StorageError
from rag_core.ports import EmbeddedQuery
from rag_core.providers.edge.building import GraphRules
from rag_core.providers.edge.store import open_edge_store
from tests.fakes.embedder import WordEmbedder
from tests.shelf_builders import file_chunks, long_text

EMBEDDER = WordEmbedder()
COURSE = BookIds(["course"])
MEGABYTES = 500
NAMESPACES = (("unshare", "--mount"), ("unshare", "--user", "--map-root-user", "--mount"))


def own_mounts() -> tuple[str, ...] | None:
    """A command that may mount for itself alone; None where this system allows none."""
    for command in NAMESPACES if shutil.which("unshare") else ():
        tried = [*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if subprocess.run(tried, capture_output=True, check=False).returncode == 0:
            return command
    return None


def on_small_disk(command: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """This module, on a disk of its own."""
    script = f'mount -t tmpfs -o size={MEGABYTES}m tmpfs "$1" && exec "$2" -m {__name__} "$1"'
    return subprocess.run(
        [*command, "sh", "-c", script, "sh", str(folder), sys.executable],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1],
    )  # fmt: skip


def fill(folder: Path, *, leaving: int = 0) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as opened:
        for size in (2**20, 4_096):
            with contextlib.suppress(OSError):
                while shutil.disk_usage(folder).free > leaving:
                    opened.write(b"x" * size)
    return filler


async def find(index: Path, *, full: bool = False, add: bool = False) -> str:
    """What comes of it to open the index, to add to it, and to search."""
    rules = GraphRules(exact_up_to=1_000)
    try:
        async with open_edge_store(
            index, dimension=EMBEDDER.dimension, model=EMBEDDER.model, rules=rules
        ) as store:
            if add:
                chunks = file_chunks([long_text(f"gear {n}") for n in range(30)], file="a.md")
                await store.add(chunks)
                await store.show_version(book_id="course", source_file="a.md", version=1)
            if full:
                fill(index.parent)
            query = EmbeddedQuery(text="gear 7", vector=EMBEDDER.vector("gear 7"))
            found = await store.search(query, books=COURSE, limit=100)
            await store.modules(books=COURSE)
            return f"{len(found)} found"
    except StorageError as error:
        return f"{type(error).__name__}: {error}"


async def main(folder: Path) -> None:
    index = folder / "index"
    print("new, then full:", await find(index, add=True, full=True))
    for leaving in (0, 8, 64):
        (folder / "filler").unlink(missing_ok=True)
        fill(folder, leaving=leaving * 2**20)
        print(f"opened with {leaving} MB:", await find(index))
    (folder / "filler").unlink()
    print("opened with room, then full:", await find(index, full=True))
    (folder / "filler").unlink()
    print("opened with room:", await find(index))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
