"""The local key: opens the web page to whoever may read the data folder, and to nobody else."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import secrets
import stat
from pathlib import Path

from bot.door import folder_errors
from rag_core.errors import ConfigurationError

log = logging.getLogger(__name__)

FILE = "local-key"
KEY = re.compile(r"[A-Za-z0-9_-]{32,200}")
MAX_BYTES = 1_000
PRIVATE = 0o600


def ensure_local_key(folder: Path) -> str:
    """The key of this data folder, made at the first time.

    Two processes that come at once make one key: whoever has the file's lock reads or writes."""
    file = folder / FILE
    with folder_errors(folder):
        drop_what_is_not_ours(file)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
        with os.fdopen(descriptor, "r+", encoding="ascii", errors="replace") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX)
            make_private(opened.fileno())
            found = opened.read(MAX_BYTES)
            if KEY.fullmatch(found.strip()):
                return found.strip()
            if found.strip():
                log.warning("local key was not usable; a new one was made", extra={"file": FILE})
            key = secrets.token_urlsafe(32)
            opened.seek(0)
            opened.truncate()
            opened.write(f"{key}\n")
            opened.flush()
            os.fsync(opened.fileno())
            return key


def read_local_key(folder: Path) -> str | None:
    """The key, where there is one; nothing is made or repaired."""
    try:
        found = (folder / FILE).read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(
            f"{folder / FILE} cannot be read ({error.strerror});"
            " run this as the user who runs Footnote."
        ) from None
    return found if KEY.fullmatch(found) else None


def drop_what_is_not_ours(file: Path) -> None:
    """A link, or a file of somebody else, could give the key away: another one takes its place."""
    try:
        found = file.lstat()
    except FileNotFoundError:
        return
    is_ours = stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_uid == os.geteuid()
    if not is_ours:
        file.unlink()
        log.warning("local key was not a file of this user; a new one is made")
    elif not found.st_mode & stat.S_IWUSR:
        file.chmod(stat.S_IMODE(found.st_mode) | PRIVATE)


def make_private(descriptor: int) -> None:
    """Others could read the key until now: whoever did has it, so the operator is told."""
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if mode == PRIVATE:
        return
    os.fchmod(descriptor, PRIVATE)
    if mode & 0o077:
        log.warning(
            "local key was open to other users; its rights were repaired",
            extra={
                "mode": f"{mode:04o}",
                "advice": f"Delete {FILE} in the data folder and restart to replace the key.",
            },
        )
