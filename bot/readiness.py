"""Whether everything that answers need is in place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from adapters.platform import ChatPlatform
from adapters.web.parts import Readiness
from rag_core.books.book import BookIds
from rag_core.desk.backlog import Backlog
from rag_core.desk.room import Room
from rag_core.errors import FootnoteError
from rag_core.ports import Ledger, VectorStore

ANY_BOOK = BookIds(["readiness"])
LONGEST_WAIT_SECONDS = 900.0
"""A question that is open for longer than this is in trouble, and so are those behind it."""


def lookout(
    *,
    ledger: Ledger,
    vectors: VectorStore,
    platforms: Sequence[ChatPlatform],
    room: Room,
    most_waiting: int,
) -> Callable[[], Awaitable[Readiness]]:
    """Asks database and index for something small, and the platforms for a sign of life.

    A queue that is full, a question that nobody came to for long and a disk that is nearly full
    are told as well: each of them means that askers wait."""

    async def look() -> Readiness:
        waits = await backlog_of(ledger)
        oldest = seconds_since(waits.oldest) if waits else 0.0
        checks = {
            "database": waits is not None,
            "index": await answers(vectors.count(books=ANY_BOOK)),
            "queue": waits is None or waits.waiting < most_waiting,
            "oldest question": oldest < LONGEST_WAIT_SECONDS,
            "disk": room.is_enough,
        }
        checks |= {platform.platform.value: platform.is_ready for platform in platforms}
        figures = {
            "waiting": float(waits.waiting if waits else 0),
            "oldest_seconds": round(oldest, 1),
            "free_mb": float(room.free // 2**20),
        }
        return Readiness(checks=checks, figures=figures)

    return look


async def backlog_of(ledger: Ledger) -> Backlog | None:
    try:
        return await ledger.backlog()
    except FootnoteError:
        return None


def seconds_since(moment: datetime | None) -> float:
    return 0.0 if moment is None else (datetime.now(UTC) - moment).total_seconds()


async def answers(asked: Awaitable[object]) -> bool:
    try:
        await asked
    except FootnoteError:
        return False
    return True
