"""Asking the desk again when it fails for a moment: Discord does not deliver twice."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from rag_core.errors import DeskFull, StorageError

log = logging.getLogger(__name__)

NOT_TAKEN = "I could not take questions just now. Please ask again in a minute."


async def in_hand(
    hand_in: Callable[[], Awaitable[None]], *, pauses: tuple[float, ...], message_id: str
) -> bool:
    """Whether the desk has it, after as many tries as there are pauses and one more."""
    for pause in (*pauses, None):
        try:
            await hand_in()
        except (DeskFull, StorageError) as error:
            log.error(
                "question not accepted", extra={"message_id": message_id, "cause": str(error)}
            )
        else:
            return True
        if pause is not None:
            await asyncio.sleep(pause)
    return False
