"""Whether the disk has room for what the index writes.

The engine maps its files into the process. Where the disk is full when a part of such a file is
first written, the system ends the process (SIGBUS), and nobody hears why. Hence a look before. On a
disk in memory (tmpfs) even reading a part that was never written takes space, and the engine reads
all of its files when it opens them."""

from __future__ import annotations

import mmap
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rag_core.errors import StorageError, StorageFull

MEBIBYTE = 2**20
LEAST = 64 * MEBIBYTE
"""More than one call writes. Files begin with up to 32 MB, which a disk in memory holds whole."""

TO_DELETE = 8 * MEBIBYTE
"""What is taken away is written to the engine's log first."""
SPARE_FILE = "spare"
SPARE = 2 * MEBIBYTE
"""Kept for what the engine writes when it flushes and closes, however full the disk is."""
BLOCK = 512
"""Bytes of a block as the system counts them."""
MADV_POPULATE_READ = 22
"""Linux 5.14: reads pages in, with an error where a plain read would end the process."""


def check_space(folder: Path, *, needed: int = LEAST) -> None:
    """Refuses where hardly any space would be left."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        reason = f"The folder {folder} of the index cannot be looked at ({error.strerror})."
        raise StorageError(f"{reason} See to its disk.") from error
    if free < needed:
        raise StorageFull(
            f"Only {free // MEBIBYTE} MB are free in {folder}; the index needs"
            f" {needed // MEBIBYTE} MB to write to. Free some space on its disk."
        )


def length_of(folder: Path) -> int:
    """Bytes of all files below."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def reads_take_space(hole: Path) -> bool:
    """Whether the disk needs space to read what was never written, tried with one page of a file
    that has such a part. Blocks."""
    if sys.platform != "linux":
        return False
    with hole.open("rb") as opened:
        start = os.lseek(opened.fileno(), 0, os.SEEK_HOLE)
        first = start - start % mmap.ALLOCATIONGRANULARITY
        before = os.fstat(opened.fileno()).st_blocks
        size = min(os.fstat(opened.fileno()).st_size - first, mmap.PAGESIZE)
        if size <= 0:
            return False
        with mmap.mmap(opened.fileno(), size, access=mmap.ACCESS_READ, offset=first) as mapped:
            try:
                mapped.madvise(MADV_POPULATE_READ)
            except OSError:
                return True  # no page is left for it, or the system is too old to say
        return os.fstat(opened.fileno()).st_blocks > before


def reserve_to_open(
    folder: Path, *, takes_space: Callable[[Path], bool] = reads_take_space
) -> None:
    """Have all of these files on the disk, if opening them needs that: StorageFull instead of the
    end of the process. Blocks."""
    holes = holes_in(folder)
    if not holes or not takes_space(holes[0]):
        return
    needed, free = sum(map(missing_in, holes)), free_bytes(folder)
    if free < needed:
        raise StorageFull(
            f"Only {free // MEBIBYTE} MB are free in {folder}; to open the index there takes"
            f" {needed // MEBIBYTE + 1} MB, as that disk is in memory. Free some space on it, or"
            " put the data folder on another disk."
        )
    for path in holes:
        reserve(path, path.stat().st_size)


def free_bytes(folder: Path) -> int:
    known = os.statvfs(folder)
    return known.f_bavail * known.f_frsize


def holes_in(folder: Path) -> Sequence[Path]:
    """Files that are not wholly on the disk."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if missing_in(path) >= mmap.PAGESIZE]


def missing_in(path: Path) -> int:
    known = path.stat()
    return max(0, known.st_size - known.st_blocks * BLOCK)


def reserve(path: Path, size: int) -> None:
    """Have the system keep space for so many bytes of a file. Blocks."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        megabytes = max(1, size // MEBIBYTE)
        reason = f"There is no space for {megabytes} MB in {path.parent} ({error.strerror})."
        raise StorageFull(f"{reason} Free some space on its disk.") from error
    finally:
        os.close(descriptor)


def keep_spare(folder: Path) -> None:
    """Have a file that can be given up when the disk is full. Without it, an index is not opened
    whose closing could end the process. Blocks."""
    spare = folder / SPARE_FILE
    if spare.exists() and spare.stat().st_size >= SPARE and not missing_in(spare):
        return
    try:
        reserve(spare, SPARE)
    except StorageFull:
        spare.unlink(missing_ok=True)  # it may have taken the last there was
        raise


def give_up_spare(folder: Path) -> None:
    """Make room for a flush where hardly any space is left. Blocks."""
    if folder.exists() and free_bytes(folder) < SPARE:
        (folder / SPARE_FILE).unlink(missing_ok=True)
