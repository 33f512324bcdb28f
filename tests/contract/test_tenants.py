"""Trust on first use: who is there first is allowed, who comes later waits; on both engines."""

from __future__ import annotations

import asyncio

from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import Trust
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.tenants import Tenants
from tests.fakes.tenants import MemoryTenants

DISCORD, SLACK = Platform.DISCORD, Platform.SLACK
A, B, C = TenantId("1"), TenantId("2"), TenantId("3")


async def trusts_who_is_first(tenants: Tenants | MemoryTenants) -> None:
    assert not await tenants.trust_first(DISCORD, {})
    assert not await tenants.has_decided(DISCORD)
    assert await tenants.trust_first(DISCORD, {A: "A", B: "B"})
    assert await tenants.has_decided(DISCORD)
    assert not await tenants.has_decided(SLACK)
    assert not await tenants.trust_first(DISCORD, {C: "C"})
    assert await tenants.trust_of(DISCORD, C) is None
    assert await tenants.meet(DISCORD, C, "C") is Trust.WAITING
    assert await tenants.meet(DISCORD, A, "A, renamed") is Trust.ALLOWED
    assert await tenants.meet(DISCORD, A, "") is Trust.ALLOWED, "a server that an outage hides"
    assert await tenants.meet(SLACK, A, "another A") is Trust.WAITING
    listed = [(known.platform, known.tenant, known.name) for known in await tenants.all()]
    assert listed == [(DISCORD, A, "A, renamed"), (DISCORD, B, "B"), (DISCORD, C, "C"),
                      (SLACK, A, "another A")]  # fmt: skip


async def tells_each_once_until_the_next_decision(tenants: Tenants | MemoryTenants) -> None:
    assert not await tenants.claim_notice(DISCORD, A), "nobody knows it"
    await tenants.meet(DISCORD, A, "A")
    claimed = await asyncio.gather(*(tenants.claim_notice(DISCORD, A) for _ in range(5)))
    assert sorted(claimed) == [False] * 4 + [True]
    await tenants.release_notice(DISCORD, A)
    assert await tenants.claim_notice(DISCORD, A)
    await tenants.decide(DISCORD, A, Trust.ALLOWED)
    assert await tenants.trust_of(DISCORD, A) is Trust.ALLOWED
    await tenants.decide(DISCORD, A, Trust.DENIED)
    assert await tenants.claim_notice(DISCORD, A)
    [known] = await tenants.all()
    assert (known.name, known.trust) == ("A", Trust.DENIED)


async def a_decision_ends_the_first_use(tenants: Tenants | MemoryTenants) -> None:
    await tenants.decide(DISCORD, A, Trust.ALLOWED)
    assert not await tenants.trust_first(DISCORD, {B: "B"})
    assert await tenants.meet(DISCORD, B, "B") is Trust.WAITING
    assert await tenants.trust_of(DISCORD, A) is Trust.ALLOWED


CONTRACT = (
    trusts_who_is_first,
    tells_each_once_until_the_next_decision,
    a_decision_ends_the_first_use,
)


async def test_who_is_first_is_trusted_and_who_comes_later_waits(database: Database) -> None:
    await trusts_who_is_first(Tenants(database))


async def test_a_refusal_is_told_once_until_the_next_decision(database: Database) -> None:
    await tells_each_once_until_the_next_decision(Tenants(database))


async def test_an_operator_who_decides_first_leaves_no_first_use(database: Database) -> None:
    await a_decision_ends_the_first_use(Tenants(database))


async def test_the_fake_keeps_the_same_contract() -> None:
    for holds in CONTRACT:
        await holds(MemoryTenants())


async def test_of_several_hosts_that_meet_different_servers_one_has_the_first_use(url: str) -> None:
    async with open_database(url) as one, open_database(url) as other:
        stores = [Tenants(one), Tenants(other)] * 5
        first = await asyncio.gather(
            *(
                store.trust_first(DISCORD, {TenantId(str(number)): f"server {number}"})
                for number, store in enumerate(stores)
            )
        )
        assert sum(first) == 1
        [allowed] = await stores[0].all()
        assert allowed.trust is Trust.ALLOWED
