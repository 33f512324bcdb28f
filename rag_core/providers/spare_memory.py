"""Gives memory back that is held and not needed."""

from __future__ import annotations

import asyncio
import ctypes
import mmap
from collections.abc import Iterator
from pathlib import Path

MAPS = Path("/proc/self/maps")
EVERY_SECONDS = 20.0
PLACES_OPTION, PLACES = -8, 1
"""M_ARENA_MAX of the C library, and how many places of free memory there are to be."""
LARGE_OPTION, LARGE = -3, 2**20
"""M_MMAP_THRESHOLD, and from which size on a piece of memory is the system's own when it is free.
The library raises it by itself to 32 MB; what large pieces leave is then held by small ones. The
local models, which need such pieces all the time, keep a place of their own (local/sessions.py)."""
SPARE_OPTION, SPARE = -1, 4 * 2**20
"""M_TRIM_THRESHOLD, and how much may stay free at the end until it is given back: what a search
takes and frees in pieces of half a megabyte, dozens of times in a millisecond. The library would
have the system fetch it anew each time, which took as long as the work itself."""


def share_free_memory() -> None:
    """Have all threads share one place of free memory, before there are more. The C library makes
    one for nearly each of them: what is free in one is of no use to the others, and the end of each
    but the first is never given back, so a process that answers for hours held a hundred megabytes
    more."""
    choose = getattr(ctypes.CDLL(None), "mallopt", None)
    if choose is not None:
        choose(PLACES_OPTION, PLACES)
        choose(LARGE_OPTION, LARGE)
        choose(SPARE_OPTION, SPARE)


def give_back() -> None:
    """What is free, where the C library can: it keeps what was freed, and tells the system
    nothing."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


async def given_back(*, every: float = EVERY_SECONDS) -> None:
    """Until cancelled: what a rush of questions or the reading of a book needed does not stay with
    the process when they are over."""
    while True:
        await asyncio.sleep(every)
        await asyncio.to_thread(give_back)


def let_go_of_files(folder: Path) -> None:
    """Leave the files below a folder to the system's cache until somebody reads them; on Linux.

    The index engine makes its files far larger than what is in them, and reads them whole into the
    process when it opens them, empty pages too. Only for files that nobody closes meanwhile."""
    if not MAPS.exists():
        return
    advise = ctypes.CDLL(None).madvise
    for start, end in shared_memory(f"{folder.resolve()}/"):
        advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)


def shared_memory(below: str) -> Iterator[tuple[int, int]]:
    """Where the files below a folder are in memory, as far as all that is written goes to them."""
    for line in MAPS.read_text().splitlines():
        span, mode, *_, file = line.split(maxsplit=5)
        if mode.endswith("s") and file.startswith(below):
            start, _, end = span.partition("-")
            yield int(start, 16), int(end, 16)
