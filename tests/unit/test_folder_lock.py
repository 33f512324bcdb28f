"""One process at a time in a data folder, and none after it has died."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from rag_core.errors import FolderInUse, StorageError
from rag_core.storage.engines.folder_lock import folder_lock

HOLD = """
import asyncio, sys
from pathlib import Path
from rag_core.storage.engines.folder_lock import folder_lock
async def main():
    async with folder_lock(Path(sys.argv[1]), wait_seconds=0):
        print("held", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


async def holder(folder: Path) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, folder, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"held\n"
    return process


async def test_a_folder_that_another_process_holds_is_refused_by_name(tmp_path: Path) -> None:
    process = await holder(tmp_path)
    with pytest.raises(FolderInUse, match=str(tmp_path)):
        async with folder_lock(tmp_path, wait_seconds=0.2):
            pass
    process.kill()
    await process.wait()


async def test_who_waits_for_a_folder_says_once_for_how_long(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with folder_lock(tmp_path, wait_seconds=0):
        with pytest.raises(FolderInUse):
            async with folder_lock(tmp_path, wait_seconds=0.2):
                pass
        assert not caplog.records
        with pytest.raises(FolderInUse):
            async with folder_lock(tmp_path, wait_seconds=1.5):
                pass
    [said] = caplog.records
    assert "up to 1.5 s" in said.getMessage()


async def test_the_lock_dies_with_its_owner_and_who_waits_gets_it(tmp_path: Path) -> None:
    process = await holder(tmp_path)

    async def wait() -> str:
        async with folder_lock(tmp_path, wait_seconds=30):
            return "mine"

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    process.kill()
    await process.wait()
    assert await waiting == "mine"


async def test_a_second_one_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    async with folder_lock(tmp_path, wait_seconds=0):
        with pytest.raises(FolderInUse):
            async with folder_lock(tmp_path, wait_seconds=0):
                pass
    async with folder_lock(tmp_path, wait_seconds=0):
        pass


async def test_a_copy_of_the_folder_is_free_and_so_is_one_that_was_moved(tmp_path: Path) -> None:
    folder, copy, moved = (tmp_path / name for name in ("data", "copy", "moved"))
    async with folder_lock(folder, wait_seconds=0):
        shutil.copytree(folder, copy)
        async with folder_lock(copy, wait_seconds=0):
            pass
    folder.rename(moved)
    async with folder_lock(moved, wait_seconds=0):
        pass


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="data folder"):
        async with folder_lock(tmp_path / "file" / "data"):
            pass


async def test_waiting_can_be_cancelled(tmp_path: Path) -> None:
    async with folder_lock(tmp_path, wait_seconds=0):

        async def wait() -> None:
            async with folder_lock(tmp_path, wait_seconds=60):
                pass

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
