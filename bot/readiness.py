"""Whether everything that answers need is in place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from adapters.platform import ChatPlatform
from adapters.web.parts import Readiness
from rag_core.books.book import BookIds
from rag_core.errors import FootnoteError
from rag_core.ports import Ledger, VectorStore

ANY_BOOK = BookIds(["readiness"])


def lookout(
    *, ledger: Ledger, vectors: VectorStore, platforms: Sequence[ChatPlatform]
) -> Callable[[], Awaitable[Readiness]]:
    """Asks database and index for something small, and the platforms for a sign of life."""

    async def look() -> Readiness:
        checks = {
            "database": await answers(ledger.waiting()),
            "index": await answers(vectors.count(books=ANY_BOOK)),
        }
        checks |= {platform.platform.value: platform.is_ready for platform in platforms}
        return Readiness(checks=checks)

    return look


async def answers(asked: Awaitable[object]) -> bool:
    try:
        await asked
    except FootnoteError:
        return False
    return True
