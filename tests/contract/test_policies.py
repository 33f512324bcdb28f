"""Policies by place, on both engines; a binding of an older schema becomes one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine

import rag_core.storage
from rag_core.books.policy import ANY_TENANT, ChannelPolicy, Place, ReaderProfile
from rag_core.conversation.key import Platform, TenantId
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.policies import Policies
from tests.builders import NOON

SERVER = Place(platform=Platform.DISCORD, tenant=TenantId("G1"))
CHANNEL = replace(SERVER, channel_id="C1")
WHOLE = ChannelPolicy(
    book_id="course",
    further_books=("faq",),
    modules=("one", "two"),
    auto_answer=False,
    hint_only=True,
    tone="warm",
    released_at=NOON,
    reader=ReaderProfile(hardware_tier=2, proficiency_levels=("A1", "B2")),
)


async def test_a_place_says_what_it_was_told_last(database: Database) -> None:
    policies = Policies(database)
    await policies.set(CHANNEL, ChannelPolicy(tone="cool"))
    await policies.set(CHANNEL, WHOLE)
    await policies.set(SERVER, ChannelPolicy(auto_answer=True))
    assert await policies.get(CHANNEL) == WHOLE
    assert await policies.get(replace(CHANNEL, platform=Platform.SLACK)) is None
    assert await policies.all() == {CHANNEL: WHOLE, SERVER: ChannelPolicy(auto_answer=True)}
    await policies.set(CHANNEL, ChannelPolicy())
    assert await policies.get(CHANNEL) is None
    assert len(await policies.all()) == 1


async def test_around_a_channel_are_its_category_and_its_server_and_nothing_else(
    database: Database,
) -> None:
    policies = Policies(database)
    told = {
        CHANNEL: "channel",
        replace(CHANNEL, tenant=ANY_TENANT, channel_id="C2"): "channel by id",
        replace(SERVER, channel_id="K1"): "category",
        replace(SERVER, tenant=ANY_TENANT, channel_id="K1"): "category by id",
        SERVER: "server",
        replace(SERVER, tenant=TenantId("G2")): "another server",
        replace(CHANNEL, tenant=TenantId("G2")): "same channel elsewhere",
        replace(CHANNEL, platform=Platform.SLACK): "another platform",
    }
    for place, tone in reversed(told.items()):
        await policies.set(place, ChannelPolicy(tone=tone))

    async def around(channel_id: str, category_id: str = "") -> list[str | None]:
        place = replace(CHANNEL, channel_id=channel_id)
        return [said.tone for said in await policies.around(place, category_id=category_id)]

    assert await around("C1") == ["channel", "server"]
    assert await around("C1", "K1") == ["channel", "category", "server"]
    assert await around("C2", "K1") == ["channel by id", "category", "server"]
    assert await around("C3") == ["server"]


async def test_what_a_server_says_replaces_what_was_said_by_id_alone(database: Database) -> None:
    policies = Policies(database)
    by_id = replace(CHANNEL, tenant=ANY_TENANT)
    server_by_id = replace(by_id, channel_id="G1")
    await policies.set(by_id, ChannelPolicy(book_id="old"))
    await policies.set(server_by_id, ChannelPolicy(book_id="old"))
    assert len(await policies.around(CHANNEL)) == 2
    await policies.set(CHANNEL, ChannelPolicy(tone="new"))
    await policies.set(SERVER, ChannelPolicy(tone="new"))
    assert set(await policies.all()) == {CHANNEL, SERVER}


async def test_a_binding_of_the_first_schema_becomes_a_policy(empty_url: str) -> None:
    address = empty_url.replace("postgresql://", "postgresql+asyncpg://")
    engine = create_async_engine(address)
    async with engine.begin() as connection:
        await connection.run_sync(to_first_schema)
        await connection.execute(
            text("INSERT INTO bindings VALUES ('discord', 'G1', 'C1', 'course')")
        )
    await engine.dispose()
    async with open_database(empty_url) as database:
        assert await Policies(database).all() == {CHANNEL: ChannelPolicy(book_id="course")}


def to_first_schema(connection: Connection) -> None:
    config = Config(attributes={"connection": connection})
    folder = Path(rag_core.storage.__path__[0]) / "migrations"
    config.set_main_option("script_location", str(folder))
    command.upgrade(config, "0001")
