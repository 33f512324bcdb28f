"""Tells the ledger and the platform how far an answer has come."""

from __future__ import annotations

import logging
from uuid import UUID

from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import FootnoteError
from rag_core.ports import Ledger

log = logging.getLogger(__name__)


class StageReporter:
    """A Progress that stores each stage once and passes it on; its failures cost nothing."""

    def __init__(self, question_id: UUID, *, ledger: Ledger, shown: Progress) -> None:
        self._question_id = question_id
        self._ledger = ledger
        self._shown = shown
        self._last: QuestionState | None = None

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        try:
            if state is not self._last:
                self._last = state
                await self._ledger.advance(self._question_id, state)
            await self._shown.stage(state, detail)
        except FootnoteError as error:
            self._missed(error)

    async def still(self, words: str) -> None:
        """A word for who waits long; the stage is what it was."""
        try:
            await self._shown.stage(self._last or QuestionState.PENDING, words)
        except FootnoteError as error:
            self._missed(error)

    async def text(self, delta: str, *, restart: bool = False) -> None:
        try:
            await self._shown.text(delta, restart=restart)
        except FootnoteError as error:
            self._missed(error)

    def _missed(self, error: FootnoteError) -> None:
        log.info(
            "progress not shown",
            extra={"question_id": str(self._question_id), "cause": type(error).__name__},
        )
