"""A desk with its worker and one platform, whole but for model and network."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from rag_core.conversation.key import Platform
from rag_core.desk.bell import Bell
from rag_core.desk.desk import Desk
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.limits import Bounds, DeskLimits
from rag_core.desk.outgoing import Outlet, ReplyChannel
from rag_core.desk.worker import Worker
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.builders import a_key, a_question
from tests.fakes.desk import Counts, PlainAnswers, SomeParts, Wall
from tests.fakes.dying import Dying, DyingLedger

QUICK = DeskLimits(
    look_every_seconds=0.02,
    delivery_pauses=(0.05,),
    full_disk_seconds=0.02,
    delivery_attempts=5,
    suspect_calm_seconds=0.0,
)
NAME = "office"


def ledger_of(database: Database) -> DyingLedger:
    return DyingLedger(database, Dying())


class Office:
    """A desk with its worker and one platform."""

    def __init__(
        self, database: Database, ledger: QuestionLedger, *, bounds: Bounds | None = None
    ) -> None:
        self.ledger = ledger
        self.dying = ledger.dying if isinstance(ledger, DyingLedger) else Dying()
        self.wall, self.counts, self.bell = Wall(dying=self.dying), Counts(), Bell()
        self.replies: ReplyChannel | None = None
        """What the worker posts to, where it is not the wall itself."""
        self.outlets: dict[Platform, Outlet] = {}
        """The platforms that have one of their own."""
        self.conversations = Conversations(database)
        self.renderer = SomeParts()
        self.answers = PlainAnswers(self.conversations)
        self.desk = Desk(
            ledger=ledger,
            bell=self.bell,
            observer=self.counts,
            bounds=dict.fromkeys(Platform, bounds) if bounds else {},
        )

    def worker(self, limits: DeskLimits = QUICK) -> Worker:
        outlet = Outlet(renderer=self.renderer, replies=self.replies or self.wall)
        return Worker(
            name=NAME,
            ledger=self.ledger,
            answers=self.answers,
            outlets=dict.fromkeys(Platform, outlet) | self.outlets,
            bell=self.bell,
            observer=self.counts,
            limits=limits,
        )

    @contextlib.asynccontextmanager
    async def at_work(self, limits: DeskLimits = QUICK) -> AsyncIterator[Worker]:
        worker = self.worker(limits)
        working = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await working

    async def until_done(self) -> None:
        """Until nothing waits; a worker that died is followed by another one."""
        async with asyncio.timeout(20):
            while await self.ledger.waiting():
                await asyncio.sleep(0.005)
                if self.dying.died:
                    self.dying.died = False
                    await self.ledger.release(worker=NAME)

    @property
    def shown(self) -> list[str]:
        return list(self.wall.posted.values())


def asked(text: str, *, thread: str = "thread-1", position: str = "1") -> IncomingQuestion:
    return a_question(text, key=a_key(thread), position=position, message_id=f"{thread}/{position}")
