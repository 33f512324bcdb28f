"""Memory of files is given back, and nothing that was written is lost with it."""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.memory import mapped_kilobytes, resident_kilobytes
from rag_core.providers.spare_memory import given_back, let_go_of_files, shared_memory

PAGES = 64
RUSH = 20_000
BLOCK = 2_000


@pytest.fixture
def file(tmp_path: Path) -> Iterator[mmap.mmap]:
    path = tmp_path / "inside" / "large.dat"
    path.parent.mkdir()
    path.write_bytes(b"a" * PAGES * mmap.PAGESIZE)
    with path.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as held:
        yield held


def test_a_file_that_was_read_whole_is_let_go_and_read_again(
    file: mmap.mmap, tmp_path: Path
) -> None:
    file[:] = b"b" * len(file)  # on the disk it is another while it is not flushed
    assert mapped_kilobytes(os.getpid(), tmp_path) == PAGES * mmap.PAGESIZE // 1024
    let_go_of_files(tmp_path)
    assert mapped_kilobytes(os.getpid(), tmp_path) == 0
    assert file[:] == b"b" * len(file)


def test_files_elsewhere_stay(file: mmap.mmap, tmp_path: Path) -> None:
    file[:] = b"b" * len(file)
    let_go_of_files(tmp_path / "ins")
    assert mapped_kilobytes(os.getpid(), tmp_path) == PAGES * mmap.PAGESIZE // 1024


def test_what_is_written_to_no_file_is_never_let_go(tmp_path: Path) -> None:
    path = tmp_path / "private.dat"
    path.write_bytes(b"a" * mmap.PAGESIZE)
    with (
        path.open("rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_COPY) as held,
    ):
        held[:3] = b"own"
        let_go_of_files(tmp_path)
        assert held[:4] == b"owna"
        assert not list(shared_memory(f"{tmp_path}/"))


async def test_what_a_rush_needed_does_not_stay_with_the_process() -> None:
    rush = [bytes(BLOCK) for _ in range(RUSH)]
    last = rush.pop()  # lies behind all the others, which thus cannot be given back by themselves
    half = resident_kilobytes(os.getpid()) - RUSH * BLOCK // 1024 // 2
    rush.clear()
    giving = asyncio.create_task(given_back(every=0.01))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10):
            while resident_kilobytes(os.getpid()) > half:  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.01)
    giving.cancel()
    assert resident_kilobytes(os.getpid()) <= half
    assert len(last) == BLOCK


THREADS = """
import ctypes, sys, threading
from rag_core.providers.spare_memory import share_free_memory
c = ctypes.CDLL(None)
if sys.argv[1] == "shared":
    share_free_memory()
all_there = threading.Barrier(12)
def work():
    all_there.wait()
    for _ in range(2_000):
        c.malloc(1_000)
    all_there.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
[t.start() for t in threads]
[t.join() for t in threads]
c.malloc_info(0, ctypes.c_void_p.in_dll(c, "stdout"))
c.fflush(None)
"""


@pytest.mark.parametrize(("how", "most"), [("shared", 1), ("by themselves", 100)])
def test_threads_share_their_free_memory(how: str, most: int) -> None:
    ran = subprocess.run([sys.executable, "-c", THREADS, how], capture_output=True, text=True)
    places = ran.stdout.count("<heap nr=")
    assert ran.returncode == 0, ran.stderr
    assert 1 <= places <= most
    assert how == "shared" or places > 2, "the C library does it by itself now"


SEARCHING = """
import resource
import numpy as np
from rag_core.providers.spare_memory import share_free_memory
from rag_core.retrieval.coverage import coverage
share_free_memory()
passages = ["The pump is primed before the first start of the day. " * 15] * 80
def fetched():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
coverage("How is the pump primed?", passages)
before = fetched()
for _ in range(100):
    coverage("How is the pump primed?", passages)
print(fetched() - before)
"""


def test_what_one_search_freed_is_there_for_the_next() -> None:
    """Where the system fetches it anew each time, wording takes twice as long."""
    ran = subprocess.run([sys.executable, "-c", SEARCHING], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < 2_000  # by the library itself they were 15,000


READING = """
import asyncio, os, resource
from benchmarks.memory import resident_kilobytes
from rag_core.providers.embedders.local import open_local_embedder
from rag_core.providers.spare_memory import share_free_memory
share_free_memory()
texts = ["The pump is primed before the first start of the day. " * 20] * 32
def fetched():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
async def main():
    async with open_local_embedder() as embedder:
        await embedder.embed_query("How is the pump primed?")
        held = resident_kilobytes(os.getpid())
        await embedder.embed_documents(texts)
        before = fetched()
        await embedder.embed_documents(texts)
        print(fetched() - before, resident_kilobytes(os.getpid()) - held)
asyncio.run(main())
"""


def test_a_book_is_read_in_memory_that_is_fetched_once_and_given_back() -> None:
    """Where each large piece comes from the system and goes back, reading takes twice as long."""
    ran = subprocess.run([sys.executable, "-c", READING], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    pages, kilobytes = map(int, ran.stdout.split())
    assert pages < 100_000  # without memory of its own for the model they were 350,000
    assert kilobytes < 25_000  # without giving it back 45,000 and more
