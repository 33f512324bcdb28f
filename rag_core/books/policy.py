"""What holds in one place of a chat platform: its book, its tone, and who reads there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from rag_core.conversation.key import Platform, TenantId

Value = TypeVar("Value")

EVERYWHERE = ""
"""The channel id of a policy that holds in a whole server or workspace."""
ANY_TENANT = TenantId("")
"""The tenant of a policy for a channel that no server or workspace was named for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A channel, a category of channels, or a whole server or workspace."""

    platform: Platform
    tenant: TenantId
    channel_id: str = EVERYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProfile:
    """What a reader has and knows: it filters what is found and words the answer."""

    hardware_tier: int | None = None
    proficiency_levels: tuple[str, ...] = ()

    def over(self, wider: ReaderProfile) -> ReaderProfile:
        """This profile, and where it says nothing, the wider one."""
        return ReaderProfile(
            hardware_tier=first(self.hardware_tier, wider.hardware_tier),
            proficiency_levels=self.proficiency_levels or wider.proficiency_levels,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPolicy:
    """How questions of one place are answered; None or empty: as the wider place says."""

    book_id: str | None = None
    further_books: tuple[str, ...] = ()
    """Read beside `book_id`; without one they say nothing."""
    operator_books: tuple[str, ...] = ()
    """The books that the operator bound there. What an admin in a chat chooses is not added."""
    modules: tuple[str, ...] = ()
    auto_answer: bool | None = None
    """Whether every question there is answered, without a mention."""
    hint_only: bool | None = None
    """Point to the section and ask a guiding question; do not give the solution."""
    tone: str | None = None
    released_at: datetime | None = None
    """Material with a later release date is not found; None: everything that is out today."""
    reader: ReaderProfile = field(default_factory=ReaderProfile)

    @property
    def books(self) -> tuple[str, ...]:
        """Every book that is read there; none: as the wider place says."""
        return () if self.book_id is None else (self.book_id, *self.further_books)

    def reading(self, *book_ids: str) -> ChannelPolicy:
        """The same policy with other books."""
        return replace(
            self, book_id=book_ids[0] if book_ids else None, further_books=tuple(book_ids[1:])
        )

    def bound_to(self, *book_ids: str) -> ChannelPolicy:
        """The same policy with the books that the operator binds to the place."""
        return replace(self.reading(*book_ids), operator_books=tuple(book_ids))

    def over(self, wider: ChannelPolicy) -> ChannelPolicy:
        """This policy, and field by field the wider place's where it says nothing."""
        return ChannelPolicy(
            operator_books=self.operator_books or wider.operator_books,
            modules=self.modules or wider.modules,
            auto_answer=first(self.auto_answer, wider.auto_answer),
            hint_only=first(self.hint_only, wider.hint_only),
            tone=first(self.tone, wider.tone),
            released_at=first(self.released_at, wider.released_at),
            reader=self.reader.over(wider.reader),
        ).reading(*(self.books or wider.books))


def first(own: Value | None, wider: Value | None) -> Value | None:
    """What the narrower place says, else what the wider one does."""
    return wider if own is None else own
