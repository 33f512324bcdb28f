"""What time alone asks for: idle threads are archived, old questions forgotten."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from rag_core.errors import StorageError
from rag_core.ports import ConversationStore, ForgettingStore

log = logging.getLogger(__name__)

IDLE = timedelta(hours=1)
LOOK_EVERY_SECONDS = 60.0
FORGET_EVERY_SECONDS = 3600.0


class Housekeeping:
    """Looks every minute for threads without a word in the last hour, and every hour for
    questions that may no longer be kept."""

    def __init__(
        self,
        *,
        conversations: ConversationStore,
        forgetting: ForgettingStore | None = None,
        kept: timedelta | None = None,
    ) -> None:
        self._conversations = conversations
        self._forgetting = forgetting
        self._kept = kept

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(again_and_again(self._archive, every=LOOK_EVERY_SECONDS))
            tasks.create_task(again_and_again(self._forget, every=FORGET_EVERY_SECONDS))

    async def _archive(self) -> None:
        archived = await self._conversations.archive_idle(idle_since=datetime.now(UTC) - IDLE)
        if archived:
            log.info("idle threads archived", extra={"threads": archived})

    async def _forget(self) -> None:
        if self._forgetting is None or self._kept is None:
            return
        forgotten = await self._forgetting.older_than(datetime.now(UTC) - self._kept)
        if forgotten:
            log.info("old questions forgotten", extra={"questions": forgotten})


async def again_and_again(chore: Callable[[], Awaitable[None]], *, every: float) -> None:
    while True:
        try:
            await chore()
        except StorageError as error:
            log.warning("housekeeping left for later", extra={"cause": str(error)})
        except Exception:  # a chore that fails must not end what people wait for
            log.exception("housekeeping failed by a defect")
        await asyncio.sleep(every)
