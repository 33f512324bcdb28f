"""The private door: how a command reaches the bot that works in the data folder."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from rag_core.errors import ConfigurationError, FootnoteError, StorageError, StorageFull

ADDRESS_FILE = "door.json"
WORKER_FILE, WITNESS_FILE = "worker", "worker.witness"
MAX_SOCKET_PATH = 100
"""A socket's path is cut at 104 to 108 bytes, by platform."""
FULL = {errno.ENOSPC, errno.EDQUOT}
NO_FOLDER = {
    *(errno.EACCES, errno.EPERM),
    *(errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG),
}
"""What another folder mends, and no new start in this one. A read-only disk may come back."""


def own_folder(folder: Path) -> Path:
    """The data folder, made if need be; nobody else may look in."""
    with folder_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
        return folder.resolve()


@contextlib.contextmanager
def folder_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise explained(error, folder) from None


def explained(error: OSError, folder: Path) -> FootnoteError:
    """What the data folder refused, for who can mend it: by more space, another folder or disk."""
    if error.errno in FULL:
        return StorageFull(
            f"There is no space left for the data folder {folder}; free some space on its disk."
        )
    refused = f"The data folder {folder} cannot be used ({error.strerror})"
    if error.errno in NO_FOLDER:
        return ConfigurationError(
            f"{refused}; set FOOTNOTE_DATA_DIR to a folder that this user may write to."
        )
    return StorageError(f"{refused}; see to its disk, or set FOOTNOTE_DATA_DIR to another folder.")


def worker_name(folder: Path) -> str:
    """The name under which whoever holds this folder claims questions, made at the first time.

    The next process on the folder bears the same name, so it knows what a killed one left open.
    A copy of the folder takes another one: two that share a database and a name would give back
    each other's claims, and answer twice."""
    file, witness = folder / WORKER_FILE, folder / WITNESS_FILE
    with folder_errors(folder):
        if file.exists() and witness.exists() and witness.read_text("ascii") != made_here(file):
            file.unlink()
        if not file.exists():
            file.write_text(uuid4().hex, encoding="ascii")
        witness.write_text(made_here(file), encoding="ascii")
        return file.read_text(encoding="ascii").strip()


def made_here(file: Path) -> str:
    """What a file keeps when its folder is moved, and no copy of it has."""
    known = file.stat()
    return f"{known.st_ino} {known.st_ctime_ns}"


def door_address(folder: Path) -> Path | None:
    """Where a bot that works in this folder listens, if somebody answers there."""
    try:
        address = Path(json.loads((folder / ADDRESS_FILE).read_text(encoding="utf-8"))["socket"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(address))
        except OSError:
            return None
    return address


@contextlib.contextmanager
def door_listener(folder: Path) -> Iterator[socket.socket]:
    """A listening socket whose address stands in the folder while it is open."""
    with contextlib.ExitStack() as stack:
        address = folder / "door.sock"
        if len(os.fsencode(address)) > MAX_SOCKET_PATH:
            private = stack.enter_context(tempfile.TemporaryDirectory(prefix="footnote-"))
            address = Path(private) / "door.sock"
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        with folder_errors(folder):
            address.unlink(missing_ok=True)
            listener.bind(str(address))
            address.chmod(0o600)
            listener.listen()
            announce(folder, address)
        stack.callback(address.unlink, missing_ok=True)
        stack.callback((folder / ADDRESS_FILE).unlink, missing_ok=True)
        yield listener


def announce(folder: Path, address: Path) -> None:
    """Write the address in one step, readable by this user only."""
    draft = folder / f"{ADDRESS_FILE}.new"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"socket": str(address)}, file)
    draft.replace(folder / ADDRESS_FILE)
