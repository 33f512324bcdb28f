"""How long the disk takes by itself: `python -m tests.faults.disk_wait FOLDER`."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from tempfile import TemporaryFile

from tests.faults.noting import Noted, note, noting

EVERY_SECONDS = 0.2
A_PAGE = b"\0" * 4096


def disk_waits(folder: Path) -> AbstractAsyncContextManager[Noted]:
    """Five times a second a page is written there and waited for, as every commit does; what goes
    wrong is told, and ends it."""
    return noting(__name__, str(folder))


def main() -> None:
    with TemporaryFile(dir=sys.argv[1], buffering=0) as file:

        def write() -> None:
            os.pwrite(file.fileno(), A_PAGE, 0)
            os.fsync(file.fileno())

        note(write, every=EVERY_SECONDS)


if __name__ == "__main__":
    main()
