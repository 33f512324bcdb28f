"""Which threads the bot has answered in, so that it hears what is asked there next."""

from __future__ import annotations

from rag_core.conversation.key import ConversationKey
from rag_core.ports import MarkerStore


class AnsweredThreads:
    """Remembers, beyond a restart, every thread that holds an answer of the bot."""

    def __init__(self, markers: MarkerStore) -> None:
        self._markers = markers

    async def answered_in(self, key: ConversationKey) -> bool:
        return await self._markers.get(_name(key)) is not None

    async def remember(self, key: ConversationKey, *, message_id: str) -> None:
        """Note the first message that the bot posted in a thread."""
        if not await self.answered_in(key):
            await self._markers.set(_name(key), message_id)


def _name(key: ConversationKey) -> str:
    return f"answered:{key}"
