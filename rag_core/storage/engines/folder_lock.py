"""One process at a time in a data folder."""

from __future__ import annotations

import asyncio
import fcntl
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from rag_core.errors import FolderInUse, StorageError

log = logging.getLogger(__name__)

LOCK_FILE = "footnote.lock"
RETRY_SECONDS = 0.1
QUIET_SECONDS = 1.0
"""Who waits longer says so; at a deploy the process before mostly ends sooner."""


@asynccontextmanager
async def folder_lock(folder: Path, *, wait_seconds: float = 30.0) -> AsyncIterator[None]:
    """Hold the folder until the end of the block, or of the process, however that ends.

    The lock is the operating system's and lies on an open file: a copy of the folder is free."""
    with lock_file(folder) as file:
        if not await taken_within(file, wait_seconds):
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


async def taken_within(file: IO[bytes], seconds: float) -> bool:
    """Whether the lock came free in this time."""
    loop = asyncio.get_running_loop()
    patience = loop.time() + seconds
    word = loop.call_later(QUIET_SECONDS, say_that_it_waits, seconds)
    try:
        while not (held := taken(file)) and loop.time() < patience:  # noqa: ASYNC110 - no sign is given
            await asyncio.sleep(RETRY_SECONDS)
    finally:
        word.cancel()
    return held


def say_that_it_waits(seconds: float) -> None:
    log.warning(
        "another Footnote works in the data folder; this one waits up to %g s for its end", seconds
    )


def taken(file: IO[bytes]) -> bool:
    """Try to take the lock; it goes when the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
