"""Where the app is installed; its tokens are sealed before they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import TypeAdapter
from sqlalchemy import bindparam, delete, select, update

from rag_core.conversation.installation import Installation, Unreadable
from rag_core.conversation.key import Platform, TenantId
from rag_core.storage import schema
from rag_core.storage.engines.codec import from_json, to_json, to_time
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement, upsert
from rag_core.storage.sealing import Sealer
from rag_core.storage.used_tickets import UsedTickets

installations = schema.installations
INSTALLATION = TypeAdapter(Installation)
ONE = (
    installations.c.platform == bindparam("platform"),
    installations.c.tenant == bindparam("tenant"),
)
SAVE = upsert(installations, on=("platform", "tenant"))
OF_PLATFORM = Statement(
    select(installations)
    .where(installations.c.platform == bindparam("platform"))
    .order_by(installations.c.tenant)
)
GET = Statement(select(installations).where(*ONE))
REMOVE = Statement(delete(installations).where(*ONE).returning(installations.c.tenant))
RESEAL = Statement(
    update(installations)
    .where(*ONE, installations.c.sealed == bindparam("before"))
    .values(sealed=bindparam("after"))
)


class Installations:
    """Workspaces by name; whoever reads the database alone reads no token."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._database = database
        self._sealer = sealer
        self.use_once = UsedTickets(database).use_once

    async def save(self, installation: Installation) -> None:
        """Insert or replace."""
        named = columns(installation.platform, installation.tenant)
        sealed = self._sealer.seal(to_json(INSTALLATION, installation), about=about(named))
        now = to_time(datetime.now(UTC))
        row = {"name": installation.name, "sealed": sealed, "updated_at": now}
        await self._database.run(SAVE, **named, **row)

    async def get(self, platform: Platform, tenant: TenantId) -> Installation | None:
        """None also where no key opens it."""
        rows = await self._database.rows(GET, **columns(platform, tenant))
        found = self._opened(rows[0]) if rows else None
        return found if isinstance(found, Installation) else None

    async def all(self, platform: Platform) -> list[Installation | Unreadable]:
        """By tenant; what an older key had sealed is sealed anew with the first one."""
        rows = await self._database.rows(OF_PLATFORM, platform=platform.value)
        found = [self._opened(row) for row in rows]
        for row, each in zip(rows, found, strict=True):
            if isinstance(each, Installation) and not self._sealer.is_newest(row["sealed"]):
                await self._seal_anew(row, each)
        return found

    async def remove(self, platform: Platform, tenant: TenantId) -> bool:
        """Whether there was one; its tokens are gone from the disk too."""

        async def body(transaction: Transaction) -> bool:
            return bool(await transaction.rows(REMOVE, **columns(platform, tenant)))

        removed = await self._database.write(body)
        if removed:
            await self._database.scrub()
        return removed

    async def _seal_anew(self, row: Row, installation: Installation) -> None:
        named = columns(installation.platform, installation.tenant)
        after = self._sealer.seal(to_json(INSTALLATION, installation), about=about(named))
        await self._database.run(RESEAL, **named, before=row["sealed"], after=after)

    def _opened(self, row: Row) -> Installation | Unreadable:
        named = {"platform": row["platform"], "tenant": row["tenant"]}
        text = self._sealer.open(row["sealed"], about=about(named))
        if text is None:
            return Unreadable(tenant=TenantId(row["tenant"]), name=row["name"])
        return from_json(INSTALLATION, text)


def columns(platform: Platform, tenant: TenantId) -> dict[str, str]:
    return {"platform": platform.value, "tenant": tenant}


def about(named: Mapping[str, str]) -> str:
    return f"installation {named['platform']} {named['tenant']}"
