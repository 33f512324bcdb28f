"""What staff answers need of the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rag_core.books.book import BookIds
from rag_core.conversation.key import ConversationKey
from rag_core.desk.incoming import MessageIdentity
from rag_core.staff.answer import Refused, StaffAnswer


class StaffAnswerStore(Protocol):
    """Keeps replies of the staff, the offered, the kept and the withdrawn."""

    async def refused_in(self, key: ConversationKey) -> Refused | None:
        """The last question of a thread, where it was refused."""
        ...

    async def add(self, answer: StaffAnswer) -> None:
        """One that is there already stays as it is."""
        ...

    async def save(self, answer: StaffAnswer) -> None:
        """Change one that is there; who was forgotten meanwhile does not come back."""
        ...

    async def get(self, answer_id: UUID) -> StaffAnswer | None: ...

    async def at(self, identity: MessageIdentity) -> StaffAnswer | None:
        """What is known of one message."""
        ...

    async def found_in(self, books: BookIds, *, now: datetime) -> Sequence[StaffAnswer]:
        """Kept and not expired, the newest first; bounded."""
        ...

    async def all(self) -> Sequence[StaffAnswer]:
        """The kept ones, expired or not, the newest first; bounded."""
        ...

    async def drop_before(self, moment: datetime) -> int:
        """Forget what was offered before then and never kept."""
        ...
