"""A place for what tests write: in memory where the system has room there, for every new index
and every database sync many files, and tests look at no disk's own truth."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MEMORY = Path("/dev/shm")
LEAST_FREE = 4 * 2**30
"""An index takes some 64 MB while it is open, and tests of two processes have several each."""


def memory_folder() -> Path | None:
    """None: what the system names for temporary files has to do."""
    if not os.access(MEMORY, os.W_OK):
        return None
    return MEMORY if shutil.disk_usage(MEMORY).free >= LEAST_FREE else None
