"""Workspaces that let the app in: their tokens are sealed, and go with them."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from rag_core.conversation.installation import Installation, Unreadable
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import ConfigurationError
from rag_core.storage.engines.archive import dump
from rag_core.storage.engines.database import Database
from rag_core.storage.engines.statement import Statement
from rag_core.storage.forgetting import Forgetting
from rag_core.storage.installations import Installations
from rag_core.storage.sealing import Sealer
from tests.contract.test_forgetting import is_anywhere

OLD, NEW = b64encode(b"o" * 32).decode(), b64encode(b"\xff" * 32).decode()
AT = datetime(2026, 11, 18, 12, 30, tzinfo=UTC)
ACME = Installation(
    platform=Platform.SLACK,
    tenant=TenantId("T0ACME"),
    name="Acme",
    facts={"bot_user_id": "U0BOT"},
    tokens={"access": "xoxb-CANARY-ACME", "refresh": "xoxe-CANARY"},
    installed_at=AT,
    expires_at=AT + timedelta(hours=12),
)
BETA = replace(ACME, tenant=TenantId("T0BETA"), name="Beta", expires_at=None)


@pytest.fixture
def installations(database: Database) -> Installations:
    return Installations(database, Sealer([OLD]))


async def test_what_was_saved_last_is_found_again(installations: Installations) -> None:
    await installations.save(replace(ACME, name="Acme of old"))
    await installations.save(ACME)
    await installations.save(BETA)
    await installations.save(replace(BETA, platform=Platform.DISCORD))
    assert await installations.get(Platform.SLACK, ACME.tenant) == ACME
    assert await installations.all(Platform.SLACK) == [ACME, BETA]
    assert await installations.get(Platform.SLACK, TenantId("T0NOBODY")) is None


async def test_no_token_is_readable_on_the_disk_or_in_a_dump(
    installations: Installations, url: str, engine: str, tmp_path: Path
) -> None:
    await installations.save(ACME)
    lines = [line async for line in dump(url)]
    assert any("T0ACME" in line for line in lines)
    assert "CANARY" not in "".join(lines)
    if engine == "sqlite":
        assert is_anywhere(tmp_path, "T0ACME")
        assert not is_anywhere(tmp_path, "CANARY")
    assert "CANARY" not in repr(ACME)


async def test_a_removed_one_is_gone_from_the_disk(
    installations: Installations, database: Database, engine: str, tmp_path: Path
) -> None:
    await installations.save(ACME)
    await installations.save(BETA)
    assert await installations.remove(Platform.SLACK, ACME.tenant)
    assert not await installations.remove(Platform.SLACK, ACME.tenant)
    assert await installations.all(Platform.SLACK) == [BETA]
    await Forgetting(database).tenant(platform=Platform.SLACK, tenant=BETA.tenant)
    assert await installations.all(Platform.SLACK) == []
    if engine == "sqlite":
        assert not is_anywhere(tmp_path, "T0ACME")
        assert not is_anywhere(tmp_path, "T0BETA")


async def test_a_new_key_takes_over_what_the_old_one_had_sealed(
    installations: Installations, database: Database
) -> None:
    await installations.save(ACME)
    both = Installations(database, Sealer([NEW, OLD]))
    assert await both.all(Platform.SLACK) == [ACME]
    assert await Installations(database, Sealer([NEW])).all(Platform.SLACK) == [ACME]
    assert await installations.all(Platform.SLACK) == [
        Unreadable(tenant=ACME.tenant, name=ACME.name)
    ]


async def test_a_row_cannot_stand_in_for_another(
    installations: Installations, database: Database
) -> None:
    await installations.save(ACME)
    await installations.save(BETA)
    swap = text(
        "UPDATE installations SET sealed ="
        " (SELECT sealed FROM installations WHERE tenant = 'T0ACME') WHERE tenant = 'T0BETA'"
    )
    await database.run(Statement(swap))
    assert await installations.get(Platform.SLACK, BETA.tenant) is None


async def test_a_ticket_opens_once(installations: Installations) -> None:
    until = datetime.now(UTC) + timedelta(minutes=10)
    assert await installations.use_once("a", until=until)
    assert not await installations.use_once("a", until=until)
    assert await installations.use_once("b", until=datetime.now(UTC) - timedelta(seconds=1))
    assert await installations.use_once("b", until=until), "what has run out is forgotten"


@pytest.mark.parametrize("keys", [[], ["short"], [OLD, "ä" * 44], [OLD[:-2]]])
def test_what_is_no_key_is_refused_by_the_name_of_its_setting(keys: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="FOOTNOTE_SECRET_KEYS") as refused:
        Sealer(keys)
    assert not any(key in str(refused.value) for key in keys)
