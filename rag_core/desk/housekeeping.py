"""What time alone asks for: idle threads are archived."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from rag_core.errors import StorageError
from rag_core.ports import ConversationStore

log = logging.getLogger(__name__)

IDLE = timedelta(hours=1)
LOOK_EVERY_SECONDS = 60.0


class Housekeeping:
    """Looks every minute for threads without a word in the last hour."""

    def __init__(self, *, conversations: ConversationStore) -> None:
        self._conversations = conversations

    async def run(self) -> None:
        while True:
            await self._archive()
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    async def _archive(self) -> None:
        try:
            archived = await self._conversations.archive_idle(idle_since=datetime.now(UTC) - IDLE)
        except StorageError as error:
            log.warning("idle threads not archived", extra={"cause": str(error)})
        else:
            if archived:
                log.info("idle threads archived", extra={"threads": archived})
