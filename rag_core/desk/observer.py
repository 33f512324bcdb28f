"""Who counts what happens at the desk."""

from __future__ import annotations

from typing import Protocol

from rag_core.agent.answer import Outcome
from rag_core.conversation.key import Platform


class DeskObserver(Protocol):
    """Hears of every question's steps; counts, never contents."""

    def accepted(self, platform: Platform, *, repeated: bool) -> None: ...

    def answered(self, platform: Platform, outcome: Outcome, *, seconds: float) -> None: ...

    def delivered(self, platform: Platform, *, posted: bool) -> None: ...
