"""Ratings kept in memory, one an asker and answer."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from rag_core.errors import FootnoteError, InvalidQuestion


class Ratings:
    """A feedback store that knows only some answers, and that can be out of order."""

    def __init__(self, knows: Callable[[UUID], bool] = lambda _: True) -> None:
        self._knows = knows
        self.trouble: FootnoteError | None = None
        self.kept: dict[tuple[UUID, str], tuple[bool, str]] = {}

    async def rated(self, *, answer_id: UUID, asker_id: str) -> bool | None:
        kept = self.kept.get((answer_id, asker_id))
        return kept[0] if kept else None

    async def rate(
        self, *, answer_id: UUID, asker_id: str, helpful: bool, reason: str = ""
    ) -> None:
        if self.trouble is not None:
            raise self.trouble
        if not self._knows(answer_id):
            raise InvalidQuestion("answer_id", "There is no answer with this answer_id.")
        self.kept[answer_id, asker_id] = (helpful, reason)
