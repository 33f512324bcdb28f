"""The database as the stores see it: statements, rows and transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from rag_core.storage.engines.statement import Statement

Result = TypeVar("Result")


class Row(Protocol):
    """One row, read by column name."""

    def __getitem__(self, key: str, /) -> Any: ...


class Transaction(Protocol):
    """What may be done between a begin and a commit."""

    async def rows(self, statement: Statement, /, **values: Any) -> Sequence[Row]: ...

    async def many(self, statement: Statement, values: Sequence[Mapping[str, Any]], /) -> None:
        """The same statement for each of these values."""
        ...


class Database(Protocol):
    """One database, shared by every store. Its errors are StorageErrors."""

    async def rows(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        """Read. Never waits for a writer, and sees only what was committed."""
        ...

    async def run(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        """Write with one statement, all of it or nothing."""
        ...

    async def note(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        """The same for what may be lost with the host, though not with the process.

        It does not wait for the disk, and is there for good once anything else is."""
        ...

    async def write(
        self, body: Callable[[Transaction], Awaitable[Result]], /, *, lasting: bool = True
    ) -> Result:
        """Run the body in one transaction: all of it or nothing.

        Once begun it is finished even when the caller is cancelled. The body awaits nothing but
        the transaction. What is not `lasting` may be lost as a note may."""
        ...

    async def scrub(self) -> None:
        """Leave nothing on the disk of what was deleted."""
        ...
