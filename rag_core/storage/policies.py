"""What each place of a chat platform says for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, select

from rag_core.books.policy import ANY_TENANT, EVERYWHERE, ChannelPolicy, Place
from rag_core.conversation.key import Platform, TenantId
from rag_core.storage import schema
from rag_core.storage.engines.codec import POLICY, from_json, to_json
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement, upsert

policies = schema.policies
THERE = (
    policies.c.platform == bindparam("platform"),
    policies.c.tenant == bindparam("tenant"),
    policies.c.channel_id == bindparam("channel_id"),
)
SET = upsert(policies, on=("platform", "channel_id", "tenant"))
UNSET = Statement(delete(policies).where(*THERE))
GET = Statement(select(policies.c.body).where(*THERE))
ALL = Statement(select(policies).order_by(*policies.primary_key.columns))
CHANNELS = ("channel", "category", "everywhere", "server")
AROUND = Statement(
    select(policies).where(
        policies.c.platform == bindparam("platform"),
        policies.c.channel_id.in_([bindparam(name) for name in CHANNELS]),
        policies.c.tenant.in_([bindparam("tenant"), bindparam("anywhere")]),
    )
)


class Policies:
    """Policies by place."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def set(self, place: Place, policy: ChannelPolicy) -> None:
        async def body(transaction: Transaction) -> None:
            where = columns(place)
            by_id_alone = {"tenant": ANY_TENANT, "channel_id": place.channel_id or place.tenant}
            await transaction.rows(UNSET, **where | by_id_alone)
            if policy == ChannelPolicy():
                await transaction.rows(UNSET, **where)
            else:
                await transaction.rows(SET, **where, body=to_json(POLICY, policy))

        await self._database.write(body)

    async def get(self, place: Place) -> ChannelPolicy | None:
        rows = await self._database.rows(GET, **columns(place))
        return from_json(POLICY, rows[0]["body"]) if rows else None

    async def around(self, place: Place, *, category_id: str = "") -> Sequence[ChannelPolicy]:
        """What is said for a channel, its category and its server, the narrowest first.

        A server counts under its own id as well, for who names it without a channel."""
        rows = await self._database.rows(
            AROUND,
            platform=place.platform.value,
            tenant=place.tenant,
            anywhere=ANY_TENANT,
            channel=place.channel_id,
            category=category_id,
            everywhere=EVERYWHERE,
            server=place.tenant,
        )
        said = {place_of(row): row["body"] for row in rows}
        return [
            from_json(POLICY, said[wider])
            for wider in places_around(place, category_id)
            if wider in said
        ]

    async def all(self) -> Mapping[Place, ChannelPolicy]:
        rows = await self._database.rows(ALL)
        return {place_of(row): from_json(POLICY, row["body"]) for row in rows}


def places_around(place: Place, category_id: str) -> Sequence[Place]:
    """Where what holds in a place may be said, the narrowest first, each once."""
    tenant, anywhere = place.tenant, ANY_TENANT
    order = (
        (tenant, place.channel_id),
        (anywhere, place.channel_id),
        (tenant, category_id),
        (anywhere, category_id),
        (tenant, EVERYWHERE),
        (anywhere, str(tenant)),
    )
    return [
        Place(platform=place.platform, tenant=by, channel_id=channel_id)
        for by, channel_id in dict.fromkeys(order)
        if by or channel_id
    ]


def columns(place: Place) -> dict[str, str]:
    return {
        "platform": place.platform.value,
        "tenant": place.tenant,
        "channel_id": place.channel_id,
    }


def place_of(row: Row) -> Place:
    return Place(
        platform=Platform(row["platform"]),
        tenant=TenantId(row["tenant"]),
        channel_id=row["channel_id"],
    )
