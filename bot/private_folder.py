"""The data folder is its user's alone: new files are made so, and older ones are mended."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from adapters.steward import Finding
from bot.examination.look import in_place, warning

log = logging.getLogger(__name__)

OTHERS = stat.S_IRWXG | stat.S_IRWXO
NAMED = 3
"""Examples in a finding."""
OWN_FOLDER = (
    "Give Footnote a folder of its own on a disk that keeps file rights, owned by the user that it"
    " runs as: set FOOTNOTE_DATA_DIR, or use chown."
)


def make_files_private() -> None:
    """From now on nobody else may read or write what this process and its children make."""
    os.umask(OTHERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What was found in a data folder; paths are relative to it."""

    mended: int = 0
    still_open: tuple[str, ...] = ()
    """Not ours to change, or on a file system that keeps no rights."""


Chmod = Callable[[Path, int], None]


def mend_rights(folder: Path, *, chmod: Chmod = os.chmod) -> Rights:
    """Take away what others may do with the folder and all that is in it. Blocks."""
    mended, still_open = 0, []
    for path in open_to_others(folder):
        if is_closed(path, chmod):
            mended += 1
        else:
            still_open.append(str(path.relative_to(folder)))
    if mended:
        log.warning("data folder was open to others: rights mended", extra={"files": mended})
    if still_open:
        log.warning("data folder is open to others", extra={"files": len(still_open)})
    return Rights(mended=mended, still_open=tuple(still_open))


def open_to_others(folder: Path) -> Iterator[Path]:
    """The folder and what is in it, as far as group or others have any right. A home folder holds
    more than ours: it is left alone."""
    if folder == Path.home():
        return
    yield from ([folder] if is_open(folder) else [])
    for parent, folders, files in os.walk(folder, onerror=say_unseen):
        yield from (path for name in (*folders, *files) if is_open(path := Path(parent, name)))


def is_open(path: Path) -> bool:
    """Links have no rights of their own, and what is gone meanwhile needs none."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not stat.S_ISLNK(mode) and bool(mode & OTHERS)


def is_closed(path: Path, chmod: Chmod) -> bool:
    """Whether others are kept out now."""
    try:
        chmod(path, stat.S_IMODE(path.lstat().st_mode) & ~OTHERS)
    except FileNotFoundError:
        return True
    except OSError as error:
        log.debug("rights could not be changed", extra={"cause": str(error)})
        return False
    return not is_open(path)


def say_unseen(error: OSError) -> None:
    log.warning("part of the data folder cannot be listed", extra={"cause": str(error)})


def folder_rights(folder: Path) -> Finding:
    """Whether others may read the data folder. Blocks."""
    if folder == Path.home():
        return warning("data folder", "is the home folder.", OWN_FOLDER)
    found = list(open_to_others(folder))
    if not found:
        return in_place("data folder", "nobody else on this machine can read it.")
    names = ", ".join(str(path.relative_to(folder)) for path in found[:NAMED])
    more = ", …" if len(found) > NAMED else ""
    detail = f"others on this machine may read {len(found)} files or folders of it ({names}{more})."
    return warning("data folder", detail, f"Restart Footnote, which mends it. {OWN_FOLDER}")
