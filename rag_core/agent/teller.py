"""Passes on how far an answer has come, and never holds the answer up."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType

from rag_core.agent.checks.partial import PartialText
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import FootnoteError

log = logging.getLogger(__name__)

LAST_WORD_SECONDS = 1.0
"""How long the answer waits for progress that is on its way; what has not begun is dropped."""


class Teller:
    """Tells a Progress the stages and the guarded text so far; what piles up goes out together.

    A progress that is slow hears less often, one that fails hears no more; the answer goes on.
    """

    def __init__(self, progress: Progress, *, checking: str = "") -> None:
        self._progress = progress
        self._checking = f"*{checking}*\n\n" if checking else ""
        """Above a text that nobody has checked yet: a part of it may still fall."""
        self._shows = False
        self._stages: list[tuple[QuestionState, str]] = []
        self._told: set[QuestionState] = set()
        self._partial = PartialText()
        self._news = asyncio.Event()
        self._ended = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Teller:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self._ended = True
        self._news.set()
        try:
            if kind is None:
                await asyncio.wait([self._task], timeout=LAST_WORD_SECONDS)
        finally:
            self._task.cancel()
            await asyncio.wait([self._task])

    def stage(self, state: QuestionState, detail: str = "") -> None:
        """Each state at most once."""
        if state not in self._told:
            self._told.add(state)
            self._stages.append((state, detail))
            self._news.set()

    def begin_text(self, ranks: frozenset[int]) -> None:
        """A new reply begins, which may cite these passages; what was shown so far is void."""
        self._partial = PartialText(ranks=ranks, shown_before=self._partial.has_shown)

    def text(self, delta: str) -> None:
        self._partial.add(delta)
        self._news.set()

    async def _run(self) -> None:
        try:
            while not self._ended:
                await self._news.wait()
                self._news.clear()
                await self._tell()
        except FootnoteError as error:
            log.warning("progress is not heard any more", extra={"cause": type(error).__name__})
        except Exception:
            # The answer does not depend on it, but a defect must not hide behind that.
            log.exception("progress met a defect")

    async def _tell(self) -> None:
        while self._stages:
            state, detail = self._stages.pop(0)
            await self._progress.stage(state, detail)
        delta, restart = self._partial.take()
        if delta or restart:
            head = self._checking if restart or not self._shows else ""
            self._shows = True
            await self._progress.text(head + delta, restart=restart)
