"""Messages whose question was forgotten: known again by a keyed hash, and by nothing else."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, delete, select

from rag_core.desk.incoming import MessageIdentity
from rag_core.storage import schema
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Transaction
from rag_core.storage.engines.statement import Statement, insert_once
from rag_core.storage.hash_keys import known_key, made_key

forgotten = schema.forgotten
KEY_NAME = "forgotten.key"
KEPT = timedelta(days=30)
"""No platform delivers a message again after that."""

IS_FORGOTTEN = Statement(
    select(forgotten.c.digest).where(forgotten.c.digest == bindparam("digest"))
)
FORGET = insert_once(forgotten, returning="digest")
OUTDATED = Statement(delete(forgotten).where(forgotten.c.forgotten_at < bindparam("before")))


async def is_forgotten(transaction: Transaction, identity: MessageIdentity) -> bool:
    """Whether a message was forgotten: a repeat of it is no question any more."""
    key = await known_key(transaction, KEY_NAME)
    if key is None:  # nothing was ever forgotten
        return False
    digest = digest_of(identity, key)
    return bool(await transaction.rows(IS_FORGOTTEN, digest=digest))


async def remember_forgotten(
    transaction: Transaction, identities: Iterable[MessageIdentity]
) -> None:
    """Leave the hashes of these messages behind, for as long as repeats may come."""
    now = datetime.now(UTC)
    key = await made_key(transaction, KEY_NAME)
    await transaction.rows(OUTDATED, before=to_time(now - KEPT))
    for identity in identities:
        await transaction.rows(FORGET, digest=digest_of(identity, key), forgotten_at=to_time(now))


def digest_of(identity: MessageIdentity, key: str) -> str:
    names = (identity.platform, identity.tenant, identity.channel_id, identity.message_id)
    text = "\0".join(names).encode()
    return hmac.new(bytes.fromhex(key), text, hashlib.sha256).hexdigest()
