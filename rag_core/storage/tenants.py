"""Which servers and workspaces are served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic

from sqlalchemy import bindparam, func, select, update

from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import KnownTenant, Trust
from rag_core.storage import schema
from rag_core.storage.engines.codec import from_time, to_time
from rag_core.storage.engines.engine import Database, Result, Row, Transaction
from rag_core.storage.engines.statement import Statement, insert_once, upsert

FRESH_SECONDS = 2.0
MOST_READ = 1_000
tenants, markers = schema.tenants, schema.markers
KEY = ("platform", "tenant")
ONE = (
    tenants.c.platform == bindparam("which_platform"),
    tenants.c.tenant == bindparam("which_tenant"),
)
ALL = Statement(select(tenants).order_by(tenants.c.platform, tenants.c.tenant))
TRUST_OF = Statement(select(tenants.c.trust).where(*ONE))
DECIDED = Statement(select(markers.c.name).where(markers.c.name == bindparam("name")))
END_FIRST_USE = insert_once(markers, returning="name")
MEET = upsert(
    tenants,
    on=KEY,
    change=lambda new: {"name": func.coalesce(func.nullif(new.name, ""), tenants.c.name)},
    returning="trust",
)
ALLOW = upsert(
    tenants,
    on=KEY,
    change=lambda new: {"name": new.name, "trust": new.trust, "since": new.since},
)
DECIDE = upsert(
    tenants,
    on=KEY,
    change=lambda new: {"trust": new.trust, "since": new.since, "is_told": new.is_told},
)
CLAIM = Statement(
    update(tenants)
    .where(*ONE, tenants.c.is_told.is_(False))
    .values(is_told=True)
    .returning(tenants.c.tenant)
)
RELEASE = Statement(update(tenants).where(*ONE).values(is_told=False))


class Tenants:
    """Decisions by server and workspace. That the first use is over is a marker of its own:
    whoever writes it first has decided, on however many hosts.

    What was read counts for two seconds, since every message, progress and post asks. What this
    process writes holds at once."""

    def __init__(self, database: Database, *, fresh_seconds: float = FRESH_SECONDS) -> None:
        self._database = database
        self._fresh_seconds = fresh_seconds
        self._read: dict[tuple[Platform, TenantId], tuple[float, Trust | None]] = {}
        self._writes = 0

    async def has_decided(self, platform: Platform) -> bool:
        return bool(await self._database.rows(DECIDED, name=first_use(platform)))

    async def trust_first(self, platform: Platform, present: Mapping[TenantId, str]) -> bool:
        if not present:
            return False

        async def body(transaction: Transaction) -> bool:
            if not await end_first_use(transaction, platform):
                return False
            for tenant, name in present.items():
                await transaction.rows(ALLOW, **row(platform, tenant, Trust.ALLOWED, name))
            return True

        return await self._write(body)

    async def meet(self, platform: Platform, tenant: TenantId, name: str) -> Trust:
        async def body(transaction: Transaction) -> Trust:
            found = await transaction.rows(MEET, **row(platform, tenant, Trust.WAITING, name))
            return Trust(found[0]["trust"])

        return await self._write(body)

    async def trust_of(self, platform: Platform, tenant: TenantId) -> Trust | None:
        read_at, trust = self._read.get((platform, tenant), (float("-inf"), None))
        if monotonic() - read_at < self._fresh_seconds:
            return trust
        writes = self._writes
        rows = await self._database.rows(TRUST_OF, **which(platform, tenant))
        trust = Trust(rows[0]["trust"]) if rows else None
        if writes == self._writes:
            if len(self._read) >= MOST_READ:
                self._read.clear()
            self._read[platform, tenant] = monotonic(), trust
        return trust

    async def decide(self, platform: Platform, tenant: TenantId, trust: Trust) -> None:
        async def body(transaction: Transaction) -> None:
            await end_first_use(transaction, platform)
            await transaction.rows(DECIDE, **row(platform, tenant, trust, ""))

        await self._write(body)

    async def _write(self, body: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Write, and read anew what was read before."""
        try:
            return await self._database.write(body)
        finally:
            self._writes += 1
            self._read.clear()

    async def claim_notice(self, platform: Platform, tenant: TenantId) -> bool:
        return bool(await self._database.run(CLAIM, **which(platform, tenant)))

    async def release_notice(self, platform: Platform, tenant: TenantId) -> None:
        await self._database.run(RELEASE, **which(platform, tenant))

    async def all(self) -> Sequence[KnownTenant]:
        return [known(found) for found in await self._database.rows(ALL)]


async def end_first_use(transaction: Transaction, platform: Platform) -> bool:
    """Whether it was not over before."""
    now = to_time(datetime.now(UTC))
    name = first_use(platform)
    return bool(await transaction.rows(END_FIRST_USE, name=name, value="over", updated_at=now))


def first_use(platform: Platform) -> str:
    return f"tenants:first use:{platform.value}"


def which(platform: Platform, tenant: TenantId) -> dict[str, str]:
    return {"which_platform": platform.value, "which_tenant": tenant}


def row(platform: Platform, tenant: TenantId, trust: Trust, name: str) -> dict[str, object]:
    return {
        "platform": platform.value,
        "tenant": tenant,
        "name": name,
        "trust": trust.value,
        "since": to_time(datetime.now(UTC)),
        "is_told": False,
    }


def known(found: Row) -> KnownTenant:
    return KnownTenant(
        platform=Platform(found["platform"]),
        tenant=TenantId(found["tenant"]),
        name=found["name"],
        trust=Trust(found["trust"]),
        since=from_time(found["since"]),
    )
