"""Brings a database to the schema that this program knows: forward only, one process at a time."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine


async def bring_up_to_date(url: str) -> None:
    """Run the migrations that are missing, all of them or none."""
    from rag_core.storage.engines.upgrading import migrate  # 12 MB that an ordinary start is spared

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
