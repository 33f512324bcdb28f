"""Progress that remembers what it heard; it can be slow, or fail."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from rag_core.desk.progress import QuestionState

UNCHECKED = "*Checking against the documents…*\n\n"


@dataclass
class ListeningProgress:
    """What an asker would see while waiting."""

    stages: list[QuestionState] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    """Every state of the text that was on the screen."""
    seconds: float = 0.0
    failure: Exception | None = None

    @property
    def drafts(self) -> list[str]:
        """The same without the line that says that it is not checked yet."""
        assert all(text.startswith(UNCHECKED) for text in self.shown)
        return [text.removeprefix(UNCHECKED) for text in self.shown]

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        await self._behave()
        self.stages.append(state)

    async def text(self, delta: str, *, restart: bool = False) -> None:
        await self._behave()
        before = "" if restart or not self.shown else self.shown[-1]
        self.shown.append(before + delta)

    async def _behave(self) -> None:
        await asyncio.sleep(self.seconds)
        if self.failure is not None:
            raise self.failure
