"""What SQLite reports, as one sentence for the person who must act."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_core.errors import StorageError, StorageFull

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
PRIMARY = 0xFF
"""Extended result codes carry the primary one in their lowest byte."""

HARDLY_ANY = 2**20
"""Free bytes; with fewer even the files that SQLite keeps beside a database do not grow."""


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn what goes wrong with this file into a StorageError."""
    try:
        yield
    except sqlite3.Error as error:
        raise explained(error, path) from error
    except UnicodeEncodeError as error:
        raise StorageError("The text holds characters that no database can store.") from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"The database {path} cannot be used: {reason}.") from error


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another connection has what this one wants."""
    return (getattr(error, "sqlite_errorcode", -1) & PRIMARY) in LOCKED


def explained(error: sqlite3.Error, path: Path) -> StorageError:
    """The sentence for an error, by its code."""
    code = getattr(error, "sqlite_errorcode", -1) & PRIMARY
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and is_full(path.parent)):
        return StorageFull(
            f"There is no space left for the database {path}. Nothing was written;"
            " free some space on the disk."
        )
    if code in DAMAGED:
        return damaged(path)
    if code in READ_ONLY:
        return StorageError(
            f"The database {path} cannot be written. Give the user that runs Footnote"
            " the right to write to it and to its folder."
        )
    if is_locked(error):
        return StorageError(f"Another program holds the database {path}. Stop it and try again.")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StorageError(
            f"The database {path} cannot be opened. Check that its folder exists and that"
            " the user that runs Footnote may read and write it."
        )
    if code == sqlite3.SQLITE_IOERR:
        return StorageError(f"The disk failed while the database {path} was in use.")
    return StorageError(f"The database {path} refused: {type(error).__name__}.")


def damaged(path: Path) -> StorageError:
    return StorageError(
        f"The database {path} is damaged or not a database. Stop Footnote, move its whole data"
        " folder away, and bring a backup back with `footnote restore`, or start anew."
    )


def is_full(folder: Path) -> bool:
    """Whether the disk has no space left, which SQLite tells of some files as a failure alone."""
    try:
        return shutil.disk_usage(folder).free < HARDLY_ANY
    except OSError:
        return False
