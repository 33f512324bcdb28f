"""The clock that claims end by: one for all who share a database, and steady where it can be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

from sqlalchemy import Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

STEADY = "steady_seconds_from_now"
"""SQLite's function of this name; one process works on such a database, so its own clock serves."""
BEGAN, BEGAN_STEADY = datetime.now(UTC), monotonic()


def steady_seconds_from_now(seconds: float) -> str:
    """By a clock that nobody sets: a step of the host's would end claims, or hold threads up."""
    moment = BEGAN + timedelta(seconds=monotonic() - BEGAN_STEADY + seconds)
    return moment.isoformat(timespec="microseconds")


class SecondsFromNow(FunctionElement[str]):
    """The moment that is so many seconds away, as the text that times are stored as."""

    type = Text()
    inherit_cache = True


@compiles(SecondsFromNow, "sqlite")
def on_sqlite(element: SecondsFromNow, compiler: SQLCompiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    return f"{STEADY}({seconds})"


@compiles(SecondsFromNow, "postgresql")
def on_postgres(element: SecondsFromNow, compiler: SQLCompiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    moment = f"(clock_timestamp() + {seconds} * interval '1 second') AT TIME ZONE 'UTC'"
    return f"""to_char({moment}, 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')"""
