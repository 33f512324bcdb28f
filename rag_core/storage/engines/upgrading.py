"""The migrations, run one after the other by the library that keeps them in order."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from rag_core.errors import SchemaTooNew
from rag_core.storage.engines.version import HEAD

MIGRATION_LOCK = 0x466F6F74
"""Held on PostgreSQL while migrations run; any number will do, as long as it stays the same."""


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
