"""How many tokens a tenant used lately: one row an hour."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, delete, func, select

from rag_core.storage import schema
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement, upsert

usage = schema.token_usage
DAY = timedelta(hours=24)
ADD_TOKENS = upsert(
    usage,
    on=("platform", "tenant", "hour"),
    change=lambda new: {"tokens": usage.c.tokens + new.tokens},
)
USED = Statement(
    select(func.coalesce(func.sum(usage.c.tokens), 0).label("tokens")).where(
        usage.c.platform == bindparam("platform"),
        usage.c.tenant == bindparam("tenant"),
        usage.c.hour > bindparam("since"),
    )
)
ALL_USED = Statement(
    select(usage.c.platform, usage.c.tenant, func.sum(usage.c.tokens).label("tokens"))
    .where(usage.c.hour > bindparam("since"))
    .group_by(usage.c.platform, usage.c.tenant)
)
OUTDATED = Statement(
    delete(usage).where(
        usage.c.platform == bindparam("platform"),
        usage.c.tenant == bindparam("tenant"),
        usage.c.hour <= bindparam("since"),
    )
)


async def count_tokens(transaction: Transaction, tenant: Row, tokens: int) -> None:
    """Add what an answer cost its tenant, and drop what is older than a day."""
    if not tokens:
        return
    now = datetime.now(UTC)
    hour = to_time(now.replace(minute=0, second=0, microsecond=0))
    names = {"platform": tenant["platform"], "tenant": tenant["tenant"]}
    await transaction.rows(ADD_TOKENS, **names, hour=hour, tokens=tokens)
    await transaction.rows(OUTDATED, **names, since=to_time(now - DAY))


async def tokens_used(transaction: Transaction, platform: str, tenant: str, now: datetime) -> int:
    """The tokens of the last twenty-four hours."""
    rows = await transaction.rows(USED, platform=platform, tenant=tenant, since=to_time(now - DAY))
    return int(rows[0]["tokens"])


class TokenUsage:
    """What every tenant used, for whoever keeps the house."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tokens_lately(self) -> Mapping[tuple[str, str], int]:
        rows = await self._database.rows(ALL_USED, since=to_time(datetime.now(UTC) - DAY))
        used = {(row["platform"], row["tenant"]): int(row["tokens"]) for row in rows}
        return dict(sorted(used.items(), key=lambda each: (-each[1], each[0])))
