"""A process that dies between two of its steps, before or after the step took effect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from uuid import UUID

from rag_core.desk.outgoing import OutgoingPart
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.ledger import QuestionLedger

Result = TypeVar("Result")


class Died(Exception):
    """The process ended here."""


class Dying:
    """Counts the steps that are left; every step counts twice, before and after its effect."""

    def __init__(self) -> None:
        self.steps_left = 0
        self.died = False

    def maybe(self) -> None:
        if self.steps_left:
            self.steps_left -= 1
            if not self.steps_left:
                self.died = True
                raise Died

    async def around(self, step: Callable[[], Awaitable[Result]]) -> Result:
        self.maybe()
        result = await step()
        self.maybe()
        return result


class DyingLedger(QuestionLedger):
    """A ledger whose caller may die at any step that writes."""

    def __init__(self, database: Database, dying: Dying) -> None:
        super().__init__(database)
        self.dying = dying

    async def settle(self, question_id: UUID, **values: Any) -> tuple[OutgoingPart, ...]:
        parent = super().settle
        return await self.dying.around(lambda: parent(question_id, **values))

    async def step_down(self, question_id: UUID, **values: Any) -> tuple[OutgoingPart, ...]:
        parent = super().step_down
        return await self.dying.around(lambda: parent(question_id, **values))

    async def begin_post(self, part: OutgoingPart) -> None:
        parent = super().begin_post
        await self.dying.around(lambda: parent(part))

    async def posted(self, part: OutgoingPart, *, external_id: str) -> None:
        parent = super().posted
        await self.dying.around(lambda: parent(part, external_id=external_id))

    async def dropped(self, part: OutgoingPart) -> None:
        parent = super().dropped
        await self.dying.around(lambda: parent(part))

    async def close(self, question_id: UUID, **values: Any) -> None:
        parent = super().close
        await self.dying.around(lambda: parent(question_id, **values))
