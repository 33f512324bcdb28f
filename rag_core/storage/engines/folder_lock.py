"""One process at a time in a data folder."""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from rag_core.errors import FolderInUse, StorageError

LOCK_FILE = "footnote.lock"
RETRY_SECONDS = 0.1


@asynccontextmanager
async def folder_lock(folder: Path, *, wait_seconds: float = 30.0) -> AsyncIterator[None]:
    """Hold the folder until the end of the block, or of the process, however that ends.

    The lock is the operating system's and lies on an open file: a copy of the folder is free."""
    with lock_file(folder) as file:
        clock = asyncio.get_running_loop().time
        patience = clock() + wait_seconds
        while not (held := taken(file)) and clock() < patience:  # noqa: ASYNC110 - no sign is given
            await asyncio.sleep(RETRY_SECONDS)
        if not held:
            raise FolderInUse(
                f"Another Footnote works in the data folder {folder}. Stop it first, or give this"
                " one a folder of its own with FOOTNOTE_DATA_DIR."
            )
        yield


def lock_file(folder: Path) -> IO[bytes]:
    """The file that the lock lies on; the folder is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / LOCK_FILE).open("ab")
    except OSError as error:
        raise StorageError(
            f"The data folder {folder} cannot be written: {error.strerror}."
        ) from error


def taken(file: IO[bytes]) -> bool:
    """Try to take the lock; it goes when the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
