"""What every table is made with: names, sorted text, parents, partial indexes."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, MetaData, Text

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)

SORTED = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that is ordered byte by byte, whatever the server's language is."""


def parent(table: str, column: str) -> ForeignKey:
    """What belongs to a row goes with it."""
    return ForeignKey(f"{table}.{column}", ondelete="CASCADE")


def partial(name: str, *columns: Column[object], unique: bool = False, only: object) -> Index:
    """An index over the few rows that matter."""
    return Index(name, *columns, unique=unique, sqlite_where=only, postgresql_where=only)
