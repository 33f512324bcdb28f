"""The small file beside an index: what it was built with, and what in it readers do not see."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

from rag_core.errors import StorageError, StorageFull

STATE_FILE = "index.json"
FULL = {errno.ENOSPC, errno.EDQUOT}
MOVE_AWAY = (
    "move the index's folder away and ingest again, or move the whole data folder away and bring a"
    " backup back with `footnote restore`."
)


def read_state(file: Path) -> dict[str, Any] | None:
    """What the index's own file says, or nothing where there is none."""
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StorageError(f"The file {file} of the index cannot be read: {MOVE_AWAY}") from error
    if not isinstance(state, dict):
        raise StorageError(f"The file {file} is not one that this program wrote: {MOVE_AWAY}")
    return state


def write_state(file: Path, state: dict[str, Any]) -> None:
    """Replace the file whole: a crash leaves the old one or the new one."""
    draft = file.with_suffix(".new")
    try:
        with draft.open("w", encoding="utf-8") as opened:
            opened.write(json.dumps(state))  # `dump` is many times slower
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(file)
    except OSError as error:
        kind = StorageFull if error.errno in FULL else StorageError
        raise kind(f"The index in {file.parent} cannot be written ({error.strerror}).") from error


def indexed_model(folder: Path) -> str | None:
    """Which embedding model the index in this folder was built with; none without an index."""
    state = read_state(folder / STATE_FILE)
    return None if state is None else str(state["model"])
