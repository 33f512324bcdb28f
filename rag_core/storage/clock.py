"""The database's own clock, so that hosts whose clocks differ agree on when a claim ends."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class SecondsFromNow(FunctionElement[str]):
    """The moment that is so many seconds away, as the text that times are stored as."""

    type = Text()
    inherit_cache = True


@compiles(SecondsFromNow, "sqlite")
def on_sqlite(element: SecondsFromNow, compiler: SQLCompiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    return f"strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now', {seconds} || ' seconds')"


@compiles(SecondsFromNow, "postgresql")
def on_postgres(element: SecondsFromNow, compiler: SQLCompiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    moment = f"(clock_timestamp() + {seconds} * interval '1 second') AT TIME ZONE 'UTC'"
    return f"""to_char({moment}, 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')"""
