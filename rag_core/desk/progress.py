"""How far a question has come, as it is stored and shown."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class QuestionState(StrEnum):
    """A question moves through these; the last four are final."""

    PENDING = "PENDING"
    RETRIEVING = "RETRIEVING"
    GENERATING = "GENERATING"
    COMPLETED = "COMPLETED"
    LOW_CONFIDENCE = "LOW_CONFIDENCE"
    NO_RESULTS = "NO_RESULTS"
    ERROR = "ERROR"

    @property
    def is_final(self) -> bool:
        return self not in {
            QuestionState.PENDING,
            QuestionState.RETRIEVING,
            QuestionState.GENERATING,
        }


class Progress(Protocol):
    """Hears how far an answer has come. Best effort: nothing depends on it being heard."""

    async def stage(self, state: QuestionState, detail: str = "") -> None: ...

    async def text(self, delta: str, *, restart: bool = False) -> None: ...


class NoProgress:
    """Where there is nothing to show how far an answer has come."""

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        """Nothing to show."""

    async def text(self, delta: str, *, restart: bool = False) -> None:
        """Nothing to show."""
