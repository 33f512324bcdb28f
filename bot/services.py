"""What is open while the house is, and what is made of it."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from adapters.web.renderer import WebRenderer
from adapters.web.reply import WebReplies
from bot.bounds import desk_limits
from bot.forgetter import Forgetter
from bot.librarian import Librarian
from bot.metrics import Metrics
from bot.settings import Settings
from bot.stores import Stores
from rag_core.agent.confidence.judgement import Judge
from rag_core.books.library import Library
from rag_core.conversation.key import Platform
from rag_core.desk.answering import Answering
from rag_core.desk.bell import Bell
from rag_core.desk.desk import Desk
from rag_core.desk.housekeeping import FORGET_EVERY_SECONDS, Housekeeping, again_and_again
from rag_core.desk.living import LivingAnswers
from rag_core.desk.outgoing import Outlet
from rag_core.desk.queue_watch import QueueWatch
from rag_core.desk.room import Room
from rag_core.desk.worker import Worker
from rag_core.ingestion.pipeline import Ingestion
from rag_core.ingestion.timetable import Timetable
from rag_core.insight.gaps import Gaps
from rag_core.ports import ChatModel, Embedder, VectorStore
from rag_core.retrieval.retriever import Retriever
from rag_core.staff.passages import AllPassages
from rag_core.staff.shelf import StaffShelf
from rag_core.staff.staffing import Staffing
from rag_core.staff.writing import Writing


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that is open while the house is."""

    name: str
    """Under which questions are claimed: the data folder's own."""
    settings: Settings
    stores: Stores
    vectors: VectorStore
    embedder: Embedder
    model: ChatModel | None
    """None: the documents are quoted."""
    library: Library
    retriever: Retriever
    judge: Judge
    ingestion: Ingestion
    timetable: Timetable
    answering: Answering
    desk: Desk
    bell: Bell
    room: Room
    metrics: Metrics
    housekeeping: Housekeeping
    gaps: Gaps
    web_replies: WebReplies
    staff_shelf: StaffShelf
    forgetting: Forgetter

    @property
    def staff_writing(self) -> Writing:
        return Writing(
            store=self.stores.staff_answers,
            ledger=self.stores.ledger,
            embedder=self.embedder,
            kept_for=timedelta(days=self.settings.staff_answer_days),
        )

    @property
    def staffing(self) -> Staffing:
        return Staffing(
            store=self.stores.staff_answers,
            library=self.library,
            ledger=self.stores.ledger,
            embedder=self.embedder,
            kept_for=timedelta(days=self.settings.staff_answer_days),
        )

    @property
    def librarian(self) -> Librarian:
        return Librarian(
            books=self.stores.books,
            sources=self.stores.sources,
            library=self.library,
            ingestion=self.ingestion,
            timetable=self.timetable,
        )

    @property
    def own_outlets(self) -> Mapping[Platform, Outlet]:
        """The web page and the terminal are always there."""
        outlet = Outlet(renderer=WebRenderer(), replies=self.web_replies, excuses=self.web_replies)
        return {Platform.WEB: outlet, Platform.CLI: outlet}

    def watches(self, chats: Mapping[Platform, Outlet]) -> Sequence[Coroutine[Any, Any, None]]:
        """What goes on beside the worker: long queues, and sources that change."""
        queue = QueueWatch(
            ledger=self.stores.ledger, outlets=chats, limits=desk_limits(self.settings)
        )
        living = LivingAnswers(
            ledger=self.stores.ledger,
            books=self.stores.books,
            jobs=self.stores.jobs,
            passages=AllPassages(self.vectors, self.staff_shelf),
            markers=self.stores.markers,
            outlets=chats,
            bell=self.bell,
        )
        tidying = again_and_again(self.staffing.tidy, every=FORGET_EVERY_SECONDS)
        return [queue.run(), living.run(), tidying]

    def worker(self, outlets: Mapping[Platform, Outlet]) -> Worker:
        return Worker(
            name=self.name,
            ledger=self.stores.ledger,
            answers=self.answering,
            outlets=outlets,
            bell=self.bell,
            observer=self.metrics,
            limits=desk_limits(self.settings),
        )
