"""Whether there is space on the disk for another question."""

from __future__ import annotations

import shutil
from pathlib import Path
from time import monotonic

from rag_core.errors import StorageFull

KNOWN_FOR_SECONDS = 1.0


class Room:
    """Looks at the free space of a folder's disk, at most once a second."""

    def __init__(self, folder: Path, *, least: int) -> None:
        self._folder = folder
        self._least = least
        self._free: int | None = None
        self._looked_at = 0.0

    @property
    def free(self) -> int:
        """Free bytes; none where the folder cannot be looked at."""
        if self._free is None or monotonic() - self._looked_at > KNOWN_FOR_SECONDS:
            self._looked_at = monotonic()
            self._free = free_bytes(self._folder)
        return self._free

    @property
    def is_enough(self) -> bool:
        return not self._least or self.free >= self._least

    def check(self) -> None:
        if not self.is_enough:
            raise StorageFull(
                f"Only {self.free // 2**20} MB are free in {self._folder}: no question is accepted"
                " before there is more space."
            )


def free_bytes(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0
