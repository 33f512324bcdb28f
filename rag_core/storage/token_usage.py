"""How many tokens a tenant used lately: one row an hour."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, delete, func, select

from rag_core.storage import schema
from rag_core.storage.codec import to_time
from rag_core.storage.engine import Row, Transaction
from rag_core.storage.statement import Statement, upsert

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
