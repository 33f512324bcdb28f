"""Keeps posted answers honest: when a source changes, the messages that cite it say so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform
from rag_core.desk.backlog import ChangedAnswer
from rag_core.desk.bell import Bell
from rag_core.desk.ladder import rendered
from rag_core.desk.outgoing import Outlet
from rag_core.errors import FootnoteError
from rag_core.ports import BookStore, JobStore, Ledger, MarkerStore
from rag_core.staff.passages import FindsChunks

log = logging.getLogger(__name__)

MARKER = "living.swept"
LOOK_EVERY_SECONDS = 5.0
PASSAGES = 500
"""How many cited passages are looked up at once."""
AT_ONCE = 10
"""How many messages are edited between two looks: platforms bound edits, and nobody waits."""
TOO_OLD = timedelta(days=30)
"""An older answer is marked, but its messages are left as they are."""
RECENT_JOBS = 50


class LivingAnswers:
    """After each ingestion it looks which cited passages are no longer there.

    What was ingested since the last look is read from the jobs, so a process that dies between
    an ingestion and its marks leaves them to the next one."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        books: BookStore,
        jobs: JobStore,
        passages: FindsChunks,
        markers: MarkerStore,
        outlets: Mapping[Platform, Outlet],
        bell: Bell,
        look_every: float = LOOK_EVERY_SECONDS,
    ) -> None:
        self._ledger = ledger
        self._books = books
        self._jobs = jobs
        self._passages = passages
        self._markers = markers
        self._outlets = outlets
        self._bell = bell
        self._look_every = look_every

    async def run(self) -> None:
        while True:
            try:
                await self.look()
            except FootnoteError as error:
                log.warning("changed sources not looked for", extra={"cause": str(error)})
            except Exception:  # the next look may do better, and nobody waits for this one
                log.exception("looking for changed sources failed by a defect")
            await asyncio.sleep(self._look_every)

    async def look(self) -> None:
        """Mark what changed since the last look, and show a few of the marks."""
        newest = await self._newest_job()
        if newest > (await self._markers.get(MARKER) or ""):
            await self._sweep()
            await self._markers.set(MARKER, newest)
        for changed in await self._ledger.changed_answers(limit=AT_ONCE):
            await self._show(changed)

    async def _newest_job(self) -> str:
        jobs = await self._jobs.recent(limit=RECENT_JOBS)
        ended = (job.completed_at for job in jobs if job.completed_at is not None)
        return max((moment.astimezone(UTC).isoformat() for moment in ended), default="")

    async def _sweep(self) -> None:
        after, marked = "", 0
        while cited := await self._ledger.cited_after(after, limit=PASSAGES):
            marked += await self._ledger.mark_changed(await self._gone(cited))
            after = cited[-1]
        if marked:
            log.info("answers marked: a source changed", extra={"answers": marked})

    async def _gone(self, cited: Sequence[str]) -> list[str]:
        """The passages that readers can no longer find as they were."""
        books = [book.book_id for book in await self._books.all()]
        there = await self._passages.chunks(cited, books=BookIds(books)) if books else {}
        return [chunk_id for chunk_id in cited if chunk_id not in there]

    async def _show(self, changed: ChangedAnswer) -> None:
        outlet = self._outlets.get(changed.question.key.platform)
        old = datetime.now(UTC) - changed.response.created_at > TOO_OLD
        if outlet is None or old:
            await self._ledger.show_change(changed.question_id, None)
            return
        payloads = rendered(outlet, changed.response, changed.question, changed.rung)
        await self._ledger.show_change(changed.question_id, payloads)
        self._bell.ring()
