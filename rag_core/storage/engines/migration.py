"""Brings a database to the schema that this program knows: forward only, one process at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from rag_core.errors import SchemaTooNew

HEAD = "0007"
"""The newest migration."""
MIGRATION_LOCK = 0x466F6F74
"""Held on PostgreSQL while migrations run; any number will do, as long as it stays the same."""


def is_up_to_date(versions: Sequence[str]) -> bool:
    """Whether there is nothing to do, so that an ordinary start is spared the machinery."""
    return list(versions) == [HEAD]


async def bring_up_to_date(url: str) -> None:
    """Run the migrations that are missing, all of them or none."""
    engine = create_async_engine(url)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(migrate)
    except DBAPIError as error:
        raise of_the_driver(error) from error
    finally:
        await engine.dispose()


def of_the_driver(error: DBAPIError) -> BaseException:
    """What the driver itself raised, for whoever explains its errors."""
    original = error.orig or error
    return original.__cause__ or original  # asyncpg's stands behind an adapter's


def migrate(connection: Connection, to: str = "head") -> None:
    """Wait for other processes that migrate, then do what is left to do."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN EXCLUSIVE")
    else:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
    config = Config(attributes={"connection": connection})
    folder = str(Path(__file__).parents[1] / "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))
    refuse_newer(connection, config)
    command.upgrade(config, to)


def refuse_newer(connection: Connection, config: Config) -> None:
    """A version that this program does not have was made by a newer one."""
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = MigrationContext.configure(connection).get_current_heads()
    if unknown := set(found) - known:
        raise SchemaTooNew(
            f"The database has schema {', '.join(sorted(unknown))}, which is newer than this"
            f" program's ({HEAD}). Nothing was changed; install the newer version of Footnote."
        )
