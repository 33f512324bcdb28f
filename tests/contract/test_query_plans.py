"""No query of the program reads a whole table: each finds its rows by an index."""

from __future__ import annotations

import importlib
import pkgutil
import sqlite3
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Table, text

import rag_core.storage
from rag_core.storage.engines.clock import STEADY, steady_seconds_from_now
from rag_core.storage.engines.statement import SQLITE, Statement
from rag_core.storage.schema import metadata

EVERY_ROW_IS_WANTED = {
    "books.ALL",
    "forgetting.MARKERS",
    "gaps.DROP_EMPTY",
    "policies.ALL",
    "sources.ALL",
    "tenants.ALL",
    "token_usage.ALL_USED",
}
"""Lists of all there is; the gaps, which are few; a day's tokens, of which hardly more is kept; the
small facts, gone through when somebody is forgotten."""
FEW_ROWS_ARE_SORTED = {"claims.BEGIN", "claims.NEXT_ASKER", "asked.ANSWERED"}
"""The open questions of one thread; the answers of one page."""


def statements() -> Iterator[tuple[str, Statement]]:
    for module in pkgutil.iter_modules(rag_core.storage.__path__):
        if module.name == "postgres" or module.ispkg:
            continue
        found = vars(importlib.import_module(f"rag_core.storage.{module.name}"))
        for name, value in found.items():
            if isinstance(value, Statement):
                yield f"{module.name}.{name}", value


EVERY = {statement: name for name, statement in statements()}  # imported ones have one name
HOLD_OPEN_ROWS = {
    str(index.name)
    for table in metadata.tables.values()
    for index in table.indexes
    if index.dialect_options["sqlite"]["where"] is not None
}
MUST_USE = {
    "claims.BEGIN": "ix_questions_open",
    "claims.FREE": "ix_questions_open",
    "claims.STILL_WAITING": "ix_questions_open",
    "admission.WAITING": "ix_questions_open",
    "admission.OF_ASKER": "ix_questions_asker",
    "admission.OF_CHANNEL": "ix_questions_channel",
    "claims.NEXT_ASKER": "ix_questions_open",
    "turns_taken.PEEK": "ix_threads_tenants",
    "turns_taken.PICK_TENANT": "ix_threads_tenants",
    "turns_taken.PICK_THREAD": "ix_threads_askers",
    "claims.RELEASE": "ix_threads_worker",
    "conversations.ARCHIVE": "ix_threads_idle",
    "jobs.UNFINISHED": "ix_jobs_unfinished",
    "states.LOAD": "uq_sessions_open",
}
"""What is open is few among many: these stay quick however long a thread's history is."""
NEWEST_FIRST = {"ix_jobs_started_at", "ix_gap_questions_asked_at"}
SAMPLES = {int: 1, float: 1.0, str: "1", bool: True, object: "1"}


def values_for(statement: Statement) -> dict[str, Any]:
    binds = statement.clause.compile(dialect=SQLITE).binds  # type: ignore[attr-defined]
    return {name: SAMPLES[bind.type.python_type] for name, bind in binds.items() if bind.required}


def sqlite_plan(url: str, statement: Statement) -> list[str]:
    connection = sqlite3.connect(url.partition(":///")[2])
    connection.create_function(STEADY, 1, steady_seconds_from_now, deterministic=True)
    try:
        query, values = statement.for_sqlite(values_for(statement))
        return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]
    finally:
        connection.close()


async def postgres_plan(url: str, statement: Statement) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("SET enable_seqscan = off")
        query, ordered = statement.for_postgres(values_for(statement))
        return [row[0] for row in await connection.fetch(f"EXPLAIN {query}", *ordered)]
    finally:
        await connection.close()


def reads_a_whole_table(line: str) -> bool:
    """Going through an index from end to end is reading a whole table too, unless the index is
    one of the few that hold open rows only, or gives the newest rows first."""
    if "Seq Scan" in line:
        return True
    _, scan, rest = line.partition("SCAN ")
    return (
        bool(scan)
        and rest.split()[0] in metadata.tables
        and not set(rest.split()) & (HOLD_OPEN_ROWS | NEWEST_FIRST)
    )


@pytest.mark.parametrize("name", sorted(set(EVERY.values()) - EVERY_ROW_IS_WANTED))
async def test_a_query_finds_its_rows_by_an_index(
    name: str, engine: str, migrated_url: str
) -> None:
    statement = next(each for each, known in EVERY.items() if known == name)
    if engine == "sqlite":
        plan = sqlite_plan(migrated_url, statement)
        sorted_anew = [line for line in plan if "TEMP B-TREE FOR ORDER BY" in line]
        assert not sorted_anew or name in FEW_ROWS_ARE_SORTED, plan
        assert MUST_USE.get(name, "") in " ".join(plan), plan
    else:
        # Which of several fitting indexes PostgreSQL takes depends on its statistics, and empty
        # tables have none that last; that it takes one does not.
        plan = await postgres_plan(migrated_url, statement)
    assert not [line for line in plan if reads_a_whole_table(line)], plan


async def test_the_check_sees_a_query_without_an_index(engine: str, migrated_url: str) -> None:
    by_state = Statement(text("SELECT * FROM questions WHERE state = 'ERROR'"))
    if engine == "sqlite":
        plan = sqlite_plan(migrated_url, by_state)
    else:
        plan = await postgres_plan(migrated_url, by_state)
    assert [line for line in plan if reads_a_whole_table(line)], plan


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
def test_what_goes_with_its_parent_is_found_by_an_index(table: Table) -> None:
    """Deleting a thread looks for the children of every row that goes."""
    leading = {
        next(iter(index.columns)).name
        for index in table.indexes
        if index.name not in HOLD_OPEN_ROWS
    }
    leading |= {next(iter(constraint.columns)).name for constraint in keys_of(table)}
    for key in table.foreign_keys:
        assert key.parent.name in leading, f"{table.name}.{key.parent.name} has no index"


def keys_of(table: Table) -> list[Any]:
    unique = [c for c in table.constraints if type(c).__name__ == "UniqueConstraint"]
    return [table.primary_key, *unique]
