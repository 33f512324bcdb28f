"""Sign-ins of browsers outlive the process and end when they should."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256

from rag_core.ports.sessions import SignIn
from rag_core.storage.engines.engine import Database
from rag_core.storage.markers import Markers
from rag_core.storage.sign_ins import SignIns

START = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def a_sign_in(name: str, *, key: str = "a" * 32, days: int = 30) -> SignIn:
    digest = sha256(name.encode()).hexdigest()
    return SignIn(digest=digest, key_fingerprint=key, ends_at=START + timedelta(days=days))


async def test_a_sign_in_is_found_until_its_end(database: Database) -> None:
    now = START
    sign_ins = SignIns(database, now=lambda: now)
    one = a_sign_in("one")
    await sign_ins.begin(one)
    assert await SignIns(database, now=lambda: now).find(one.digest) == one
    assert await sign_ins.find(a_sign_in("other").digest) is None
    now = START + timedelta(days=30)
    assert await sign_ins.find(one.digest) is None


async def test_signing_out_ends_one_sign_in_alone(database: Database) -> None:
    sign_ins = SignIns(database, now=lambda: START)
    one, two = a_sign_in("one"), a_sign_in("two")
    await sign_ins.begin(one)
    await sign_ins.begin(two)
    await sign_ins.end(one.digest)
    await sign_ins.end(one.digest)
    assert await sign_ins.find(one.digest) is None
    assert await sign_ins.find(two.digest) == two


async def test_sign_ins_of_a_key_that_is_gone_end_and_nothing_else(database: Database) -> None:
    sign_ins, markers = SignIns(database, now=lambda: START), Markers(database)
    await markers.set("slack:C1", "1700000000.000100")
    for number in range(40):
        await sign_ins.begin(a_sign_in(f"gone-{number}", key="b" * 32))
    stays = a_sign_in("stays")
    await sign_ins.begin(stays)
    await sign_ins.end_others({stays.key_fingerprint})
    assert await sign_ins.find(stays.digest) == stays
    for number in range(40):
        assert await sign_ins.find(a_sign_in(f"gone-{number}").digest) is None
    assert await markers.get("slack:C1") == "1700000000.000100"


async def test_what_ran_out_is_deleted_at_the_next_sign_in(database: Database) -> None:
    now = START
    sign_ins = SignIns(database, now=lambda: now)
    old = [a_sign_in(f"old-{number}") for number in range(20)]
    for each in old:
        await sign_ins.begin(each)
    now = START + timedelta(days=31)
    await sign_ins.begin(a_sign_in("new", days=60))
    now = START  # what is there at all would be found again
    assert [await sign_ins.find(each.digest) for each in old] == [None] * 20
