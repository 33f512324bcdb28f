"""What staff answers need of the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rag_core.books.audience import Audience
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

    async def save_vector(self, answer: StaffAnswer) -> None:
        """Note the vector of these words; nothing happens where they are not the same any more."""
        ...

    async def found_in(
        self, books: BookIds, *, audience: Audience, now: datetime
    ) -> Sequence[StaffAnswer]:
        """Kept, not expired, and for this audience, the newest first; bounded. These are answers
        of its own place for books that the operator bound there, what was shared with it, and
        what the operator wrote down."""
        ...

    async def standing(self, *, now: datetime) -> Sequence[StaffAnswer]:
        """All that are kept and not expired, wherever they are found."""
        ...

    async def all(self) -> Sequence[StaffAnswer]:
        """The kept ones, expired or not, the newest first; bounded."""
        ...

    async def drop_before(self, moment: datetime) -> int:
        """Forget what was offered before then and never kept."""
        ...
