"""A host that may be lost: what its disk is sure to hold, and what it may hold, at each moment."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A moment at which the power may fail: how much of the log is then left, at least and at
    most, and what had been shown and promised by then."""

    least: int
    most: int
    posted: dict[str, str]
    promised: frozenset[str]


@dataclass
class Disk:
    """Watches a database file that has just been opened."""

    file: Path
    posted: dict[str, str]
    promised: set[str] = field(default_factory=set)
    moments: list[Moment] = field(default_factory=list)
    _sure: int = 0

    def __post_init__(self) -> None:
        self._begun_with = self.file.read_bytes()
        self._kept = b""

    @property
    def _log(self) -> Path:
        return self.file.with_name(f"{self.file.name}-wal")

    def passes(self, *, lasting: bool = False) -> None:
        """Something has happened; all that was written is on the disk if that waited for it."""
        written = self._log.stat().st_size
        self._sure = written if lasting else self._sure
        self.moments.append(
            Moment(
                least=self._sure,
                most=written,
                posted=dict(self.posted),
                promised=frozenset(self.promised),
            )
        )

    def keep(self) -> None:
        """The log as it is now: it goes with the last connection."""
        self._kept = self._log.read_bytes()

    def after(self, log_bytes: int, folder: Path) -> Path:
        """The database as the host has it when it is back, with so much of its log."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        file = folder / self.file.name
        file.write_bytes(self._begun_with)
        file.with_name(f"{file.name}-wal").write_bytes(self._kept[:log_bytes])
        return file


class Watched:
    """A database each of whose writes is a moment of its disk's."""

    def __init__(self, database: Database, disk: Disk) -> None:
        self._database = database
        self._disk = disk

    async def rows(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        return await self._database.rows(statement, **values)

    async def run(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        found = await self._database.run(statement, **values)
        self._disk.passes(lasting=True)
        return found

    async def note(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        found = await self._database.note(statement, **values)
        self._disk.passes()
        return found

    async def write(
        self, body: Callable[[Transaction], Awaitable[Result]], /, *, lasting: bool = True
    ) -> Result:
        result = await self._database.write(body, lasting=lasting)
        self._disk.passes(lasting=lasting)
        return result

    async def scrub(self) -> None:
        await self._database.scrub()
