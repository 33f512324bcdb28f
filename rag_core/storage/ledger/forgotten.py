"""Messages whose question was forgotten: known again by a keyed hash, and by nothing else."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, delete, select

from rag_core.desk.incoming import MessageIdentity
from rag_core.storage import schema
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.statement import Statement, insert_once

forgotten, markers = schema.forgotten, schema.markers
KEY_NAME = "forgotten.key"
KEPT = timedelta(days=30)
"""No platform delivers a message again after that."""

KEY = Statement(select(markers.c.value).where(markers.c.name == bindparam("name")))
MAKE_KEY = insert_once(markers, returning="name")
IS_FORGOTTEN = Statement(
    select(forgotten.c.digest).where(forgotten.c.digest == bindparam("digest"))
)
FORGET = insert_once(forgotten, returning="digest")
OUTDATED = Statement(delete(forgotten).where(forgotten.c.forgotten_at < bindparam("before")))


async def is_forgotten(transaction: Transaction, identity: MessageIdentity) -> bool:
    """Whether a message was forgotten: a repeat of it is no question any more."""
    key = await transaction.rows(KEY, name=KEY_NAME)
    if not key:  # nothing was ever forgotten
        return False
    digest = digest_of(identity, key[0]["value"])
    return bool(await transaction.rows(IS_FORGOTTEN, digest=digest))


async def remember_forgotten(
    transaction: Transaction, identities: Iterable[MessageIdentity]
) -> None:
    """Leave the hashes of these messages behind, for as long as repeats may come."""
    now = datetime.now(UTC)
    await transaction.rows(
        MAKE_KEY, name=KEY_NAME, value=secrets.token_hex(32), updated_at=to_time(now)
    )
    key = (await transaction.rows(KEY, name=KEY_NAME))[0]["value"]
    await transaction.rows(OUTDATED, before=to_time(now - KEPT))
    for identity in identities:
        await transaction.rows(FORGET, digest=digest_of(identity, key), forgotten_at=to_time(now))


def digest_of(identity: MessageIdentity, key: str) -> str:
    names = (identity.platform, identity.tenant, identity.channel_id, identity.message_id)
    text = "\0".join(names).encode()
    return hmac.new(bytes.fromhex(key), text, hashlib.sha256).hexdigest()


def identity_of(row: Row) -> MessageIdentity:
    return MessageIdentity(
        platform=row["platform"],
        tenant=row["tenant"],
        channel_id=row["channel_id"],
        message_id=row["message_id"],
    )
