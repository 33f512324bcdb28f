"""A query written once and compiled once for each engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast

from sqlalchemy import BindParameter, ClauseElement, Insert, Table, bindparam, insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.asyncpg import dialect as postgres_dialect
from sqlalchemy.dialects.sqlite.pysqlite import dialect as sqlite_dialect
from sqlalchemy.engine import Dialect

SQLITE = sqlite_dialect(paramstyle="named")
POSTGRES: Dialect = postgres_dialect()  # type: ignore[no-untyped-call]  # the library's


class Statement:
    """A statement with named values. The drivers run its text themselves: that is several times
    as fast as going through an engine and a result of SQLAlchemy's."""

    def __init__(self, clause: ClauseElement, *, on_postgres: ClauseElement | None = None) -> None:
        self.clause = clause
        self._on_postgres = clause if on_postgres is None else on_postgres

    @cached_property
    def _for_sqlite(self) -> tuple[str, dict[str, Any]]:
        return compiled(self.clause, SQLITE)[:2]

    @cached_property
    def _for_postgres(self) -> tuple[str, dict[str, Any], tuple[str, ...]]:
        return compiled(self._on_postgres, POSTGRES)

    def for_sqlite(self, values: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """The text and its values by name."""
        text, constants = self._for_sqlite
        return text, {**constants, **values} if constants else values

    def for_postgres(self, values: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """The text and its values in order."""
        text, constants, order = self._for_postgres
        every = {**constants, **values}
        return text, [every[name] for name in order]


def compiled(
    clause: ClauseElement, dialect: Dialect
) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """The text, the values that are part of the statement itself, and the order of all names."""
    result = clause.compile(dialect=dialect)
    constants = {
        name: parameter.effective_value
        for name, parameter in result.binds.items()  # type: ignore[attr-defined]  # it compiles SQL
        if not parameter.required
    }
    order = getattr(result, "positiontup", None) or ()
    return str(result), constants, tuple(order)


def insert_into(table: Table, *, without: tuple[str, ...] = ()) -> Insert:
    """An insert of every column, each value named for its column."""
    return insert(table).values(named(table, without))


def upsert(
    table: Table,
    *,
    on: tuple[str, ...],
    change: Callable[[Any], Mapping[str, Any]] | None = None,
    without: tuple[str, ...] = (),
    returning: str | None = None,
) -> Statement:
    """An insert that changes the row that is there already: by default all but its key."""
    columns = named(table, without)

    def built(dialect: Any) -> ClauseElement:
        clause = dialect.insert(table).values(columns)
        new = clause.excluded
        changed = change(new) if change else {name: new[name] for name in columns if name not in on}
        clause = clause.on_conflict_do_update(index_elements=list(on), set_=changed)
        return cast(ClauseElement, clause.returning(table.c[returning]) if returning else clause)

    return Statement(built(sqlite), on_postgres=built(postgresql))


def insert_once(table: Table, *, without: tuple[str, ...] = (), returning: str) -> Statement:
    """An insert that leaves alone what is there already, and then returns no row."""
    columns = named(table, without)

    def built(dialect: Any) -> ClauseElement:
        clause = dialect.insert(table).values(columns)
        return cast(ClauseElement, clause.on_conflict_do_nothing().returning(table.c[returning]))

    return Statement(built(sqlite), on_postgres=built(postgresql))


def named(table: Table, without: tuple[str, ...]) -> dict[str, BindParameter[Any]]:
    """A value for every column, named for it."""
    names = (column.name for column in table.columns)
    return {name: bindparam(name) for name in names if name not in without}
