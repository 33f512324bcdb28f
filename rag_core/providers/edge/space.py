"""Whether the disk has room for what the index writes.

The engine maps its files into the process. Where the disk is full when a part of such a file is
first written, the system ends the process, and nobody hears why. Hence a look before."""

from __future__ import annotations

import shutil
from pathlib import Path

from rag_core.errors import StorageError, StorageFull

MEBIBYTE = 2**20
LEAST = 64 * MEBIBYTE
"""More than one call writes. Files begin with up to 32 MB, which a disk in memory holds whole."""

TO_DELETE = 8 * MEBIBYTE
"""What is taken away is written to the engine's log first."""


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
