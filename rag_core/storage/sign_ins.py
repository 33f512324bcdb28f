"""Sign-ins of browsers, kept among the small facts under the hash of their cookie."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime

from sqlalchemy import bindparam, delete, select

from rag_core.ports.sessions import SignIn
from rag_core.storage import schema
from rag_core.storage.engines.codec import from_time, to_time
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement, upsert

markers = schema.markers

PREFIX = "web-session:"
FIRST, LAST = f"{PREFIX}0", f"{PREFIX}g"
"""Before and after every name: a prefix and hexadecimal digits."""
NAMED = markers.c.name == bindparam("name")
AMONG_SIGN_INS = (
    markers.c.name >= bindparam("first"),
    markers.c.name < bindparam("last"),
)
BEGIN = upsert(markers, on=("name",))
FIND = Statement(select(markers.c.value, markers.c.updated_at).where(NAMED))
END = Statement(delete(markers).where(NAMED))
ALL_SIGN_INS = Statement(select(markers.c.name, markers.c.value).where(*AMONG_SIGN_INS))
END_PAST = Statement(
    delete(markers).where(*AMONG_SIGN_INS, markers.c.updated_at <= bindparam("now"))
)


class SignIns:
    """A row holds its key's fingerprint, and the end in the place of the last change."""

    def __init__(
        self, database: Database, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._now = now

    async def begin(self, sign_in: SignIn) -> None:
        async def body(transaction: Transaction) -> None:
            await transaction.rows(END_PAST, first=FIRST, last=LAST, now=to_time(self._now()))
            await transaction.rows(
                BEGIN,
                name=PREFIX + sign_in.digest,
                value=sign_in.key_fingerprint,
                updated_at=to_time(sign_in.ends_at),
            )

        await self._database.write(body)

    async def find(self, digest: str) -> SignIn | None:
        rows = await self._database.rows(FIND, name=PREFIX + digest)
        if not rows:
            return None
        ends_at = from_time(rows[0]["updated_at"])
        if ends_at <= self._now():
            return None
        return SignIn(digest=digest, key_fingerprint=rows[0]["value"], ends_at=ends_at)

    async def end(self, digest: str) -> None:
        await self._database.run(END, name=PREFIX + digest)

    async def end_others(self, key_fingerprints: Collection[str]) -> None:
        async def body(transaction: Transaction) -> None:
            for row in await transaction.rows(ALL_SIGN_INS, first=FIRST, last=LAST):
                if row["value"] not in key_fingerprints:
                    await transaction.rows(END, name=row["name"])

        await self._database.write(body)
