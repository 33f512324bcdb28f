"""One file that holds the house: its database, its embedded index, and what made them."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bot.providers import INDEX_FOLDER
from rag_core.errors import InvalidQuestion, StorageError
from rag_core.ports import VectorStore
from rag_core.storage.engines.archive import dump, load
from rag_core.storage.engines.version import HEAD

MANIFEST, ROWS = "manifest.json", "database.jsonl"
COMPRESSION = 1
"""Vectors hardly shrink; the rest does at the lowest level already."""
DAMAGED = (tarfile.TarError, zlib.error, EOFError, KeyError, TypeError, ValueError)
MEBIBYTE = 2**20
HOLE = 4096
"""Bytes: what disks are divided into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What a backup says of itself."""

    created_at: str
    footnote: str
    schema: str
    rows: int
    has_index: bool


async def write_backup(file: Path, *, database: str, index: VectorStore) -> Backup:
    """Everything as it stands now; the file is there whole or not at all."""
    refuse_if_there(file, "a backup never overwrites; name another file.")
    with folder_errors(file.parent), tempfile.TemporaryDirectory(dir=file.parent) as made_in:
        folder = Path(made_in)
        async with index.frozen() as index_folder:
            backup = Backup(
                created_at=datetime.now(UTC).isoformat(),
                footnote=version("footnote-bot"),
                schema=HEAD,
                rows=await write_rows(folder / ROWS, database),
                has_index=index_folder is not None,
            )
            await asyncio.to_thread(pack, folder, backup, index_folder)
        (folder / "backup").replace(file)
    return backup


def refuse_if_there(path: Path, rule: str) -> None:
    with folder_errors(path.parent):
        if path.exists():
            raise InvalidQuestion("file", f"{path} is there already: {rule}")


async def write_rows(file: Path, database: str) -> int:
    count = 0
    with file.open("w", encoding="utf-8") as opened:
        async for line in dump(database):
            opened.write(line + "\n")
            count += 1
    return count


def pack(folder: Path, backup: Backup, index: Path | None) -> None:
    (folder / MANIFEST).write_text(json.dumps(asdict(backup)), encoding="utf-8")
    descriptor = os.open(folder / "backup", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        with tarfile.open(fileobj=opened, mode="w:gz", compresslevel=COMPRESSION) as tar:
            tar.add(folder / MANIFEST, MANIFEST)
            tar.add(folder / ROWS, ROWS)
            if index is not None:
                tar.add(index, INDEX_FOLDER)
        opened.flush()
        os.fsync(opened.fileno())


async def restore_backup(file: Path, *, database: str, folder: Path) -> Backup:
    """Fill an empty house. What was there stays; a restore that fails leaves nothing behind."""
    target = folder / INDEX_FOLDER
    refuse_if_there(
        target,
        "a restore never overwrites. Nearly every command makes an index, also an empty one: stop"
        f" the bot, move what is in {folder} away and restore again.",
    )
    with folder_errors(folder), tempfile.TemporaryDirectory(dir=folder) as read_in:
        unpacked = Path(read_in)
        with backup_errors(file):
            await asyncio.to_thread(unpack, file, unpacked)
            backup = Backup(**json.loads((unpacked / MANIFEST).read_text(encoding="utf-8")))
        with (unpacked / ROWS).open(encoding="utf-8") as lines:
            await load(database, lines, revision=backup.schema, rows=backup.rows)
        if backup.has_index:
            shutil.move(unpacked / INDEX_FOLDER, target)
    return backup


class HollowTar(tarfile.TarFile):
    """Leaves holes where files hold zeros: an index reserves far more than it has written."""

    def makefile(self, tarinfo: tarfile.TarInfo, targetpath: Any) -> None:
        packed = self.extractfile(tarinfo)
        assert packed is not None  # a regular file has content
        with packed, Path(targetpath).open("wb") as file:
            while block := packed.read(HOLE):
                if block.count(0) == len(block):
                    file.seek(len(block), os.SEEK_CUR)
                else:
                    file.write(block)
            file.truncate()


def unpack(file: Path, folder: Path) -> None:
    """All of it, to the sum behind its end: what is damaged may look well until then."""
    with gzip.open(file) as packed:
        with HollowTar.open(fileobj=packed, mode="r:") as tar:
            tar.extractall(folder, filter="data")
        while packed.read(MEBIBYTE):
            pass


@contextlib.contextmanager
def backup_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except (*DAMAGED, OSError) as error:
        reason = getattr(error, "strerror", None) or "it is cut, damaged or of another kind"
        raise StorageError(f"{file} cannot be read as a backup: {reason}.") from error


@contextlib.contextmanager
def folder_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidQuestion("file", f"{folder} cannot be written ({error.strerror}).") from error
