"""What readers of a shared index may see of each book, kept beside the index on the server.

Several processes may read and write one index, so the view of a book is one small point in a
collection of its own: written whole, with a count of its changes. A reader searches through the
view that it knows and looks at the count afterwards: unchanged, nothing moved under its search.
"""

from __future__ import annotations

import time
from asyncio import sleep
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from qdrant_client import AsyncQdrantClient, models

from rag_core.errors import UpstreamUnavailable
from rag_core.providers.server.connection import SERVICE, Connection
from rag_core.providers.server.filters import has_number

QUIET_SECONDS = 0.05
"""Between two changes of one book, so that readers elsewhere find a moment to search in."""
CLASHES = 20
"""How often another writer may come first before a change is given up."""
GENERATION = "generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """The parts of a book that are not for readers, and how often that changed."""

    generation: int = 0
    hidden: frozenset[str] = frozenset()
    dropped: bool = False
    """The book is being removed."""


@dataclass(slots=True, kw_only=True)
class Registers:
    """Reads and changes the registers of books."""

    connection: Connection
    collection: str
    quiet_seconds: float = QUIET_SECONDS
    _changed_at: dict[str, float] = field(default_factory=dict)

    async def read(self, books: Collection[str]) -> Mapping[str, Register]:
        """One for each book; a book that was never written has an empty one."""
        by_point = {register_id(book): book for book in books}
        found = await self.connection.ask(lambda client: self._retrieve(client, list(by_point)))
        return dict.fromkeys(books, Register()) | {
            by_point[str(record.id)]: register_of(record.payload or {}) for record in found
        }

    async def change(self, book: str, new: Callable[[Register], Register]) -> Register:
        """Change a register in one step; `new` may be asked again when another came first."""
        for _ in range(CLASHES):
            present = (await self.read([book]))[book]
            wanted = new(present)
            if wanted == present:
                return present
            await self._quiet(book)
            await self._replace(book, present.generation, wanted)
        raise UpstreamUnavailable(SERVICE, "others change the same book all the time")

    async def _retrieve(
        self, client: AsyncQdrantClient, points: Iterable[str]
    ) -> list[models.Record]:
        return await client.retrieve(
            self.collection,
            list(points),
            with_payload=True,
            consistency=models.ReadConsistencyType.MAJORITY,
        )

    async def _replace(self, book: str, generation: int, wanted: Register) -> None:
        """Takes effect only where nobody changed the register since it was read."""
        point = models.PointStruct(
            id=register_id(book),
            vector={},
            payload={
                "register_of": book,
                GENERATION: generation + 1,
                "hidden": sorted(wanted.hidden),
                "dropped": wanted.dropped,
            },
        )
        unchanged = models.Filter(must=[has_number(GENERATION, generation)])
        await self.connection.ask(
            lambda client: client.upsert(
                self.collection,
                [point],
                wait=True,
                ordering=models.WriteOrdering.STRONG,
                update_filter=unchanged,
            )
        )
        self._changed_at[book] = time.monotonic()

    async def _quiet(self, book: str) -> None:
        since = time.monotonic() - self._changed_at.get(book, float("-inf"))
        await sleep(max(0.0, self.quiet_seconds - since))


def register_id(book: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"register:{book}"))


def register_of(payload: Mapping[str, Any]) -> Register:
    return Register(
        generation=int(payload[GENERATION]),
        hidden=frozenset(payload["hidden"]),
        dropped=bool(payload["dropped"]),
    )


def with_hidden(register: Register, hidden: frozenset[str]) -> Register:
    return replace(register, hidden=hidden)
