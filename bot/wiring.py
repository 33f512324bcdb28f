"""The object graph: opened in order, closed in the reverse."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from adapters.apologies import apologise
from adapters.web.parts import Readiness, WebParts
from adapters.web.renderer import WebRenderer
from adapters.web.reply import WebReplies
from bot.door import worker_name
from bot.metrics import Metrics
from bot.providers import (
    embedding_choice,
    open_chat_model,
    open_embedder,
    open_own_embedder,
    open_vectors,
)
from bot.settings import Settings
from rag_core.agent.agent import Agent
from rag_core.agent.config import AgentConfig
from rag_core.agent.profiles import profile_named
from rag_core.agent.prompts import SYSTEM_PROMPT
from rag_core.books.library import Library
from rag_core.books.starters import Starters
from rag_core.conversation.key import Platform
from rag_core.desk.answering import Answering
from rag_core.desk.bell import Bell
from rag_core.desk.desk import Desk
from rag_core.desk.housekeeping import Housekeeping
from rag_core.desk.limits import DeskLimits
from rag_core.desk.outgoing import Outlet
from rag_core.desk.worker import Worker
from rag_core.ingestion.pipeline import Ingestion
from rag_core.insight.gaps import Gaps, GapStore
from rag_core.insight.stats import StatsStore
from rag_core.insight.story import StoryStore
from rag_core.ports import (
    BookStore,
    ChatModel,
    ConversationStore,
    Embedder,
    FeedbackStore,
    JobStore,
    Ledger,
    MarkerStore,
    PolicyStore,
    VectorStore,
)
from rag_core.retrieval.retriever import Retriever
from rag_core.storage.books import Books
from rag_core.storage.conversations import Conversations
from rag_core.storage.database import open_database
from rag_core.storage.feedback import Feedback
from rag_core.storage.gaps import GapRecords
from rag_core.storage.jobs import Jobs
from rag_core.storage.ledger import QuestionLedger
from rag_core.storage.markers import Markers
from rag_core.storage.policies import Policies
from rag_core.storage.stats import StatsRecords
from rag_core.storage.stories import Stories

AsksReadiness = Callable[[], Awaitable[Readiness]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What lives in the database."""

    conversations: ConversationStore
    ledger: Ledger
    books: BookStore
    policies: PolicyStore
    jobs: JobStore
    feedback: FeedbackStore
    gaps: GapStore
    stats: StatsStore
    stories: StoryStore
    markers: MarkerStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that is open while the house is."""

    name: str
    """Under which questions are claimed: the data folder's own."""
    settings: Settings
    stores: Stores
    vectors: VectorStore
    embedder: Embedder
    model: ChatModel
    library: Library
    retriever: Retriever
    ingestion: Ingestion
    answering: Answering
    desk: Desk
    bell: Bell
    metrics: Metrics
    housekeeping: Housekeeping
    gaps: Gaps
    web_replies: WebReplies

    @property
    def own_outlets(self) -> Mapping[Platform, Outlet]:
        """The web page and the terminal are always there."""
        outlet = Outlet(renderer=WebRenderer(), replies=self.web_replies)
        return {Platform.WEB: outlet, Platform.CLI: outlet}

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


@contextlib.asynccontextmanager
async def open_services(settings: Settings, folder: Path) -> AsyncIterator[Services]:
    """Open what answers need; close it again in the reverse order."""
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        stores = await enter(open_stores(settings))
        choice = await embedding_choice(settings, folder)
        embedder = await enter(open_embedder(settings, choice))
        vectors = await enter(open_vectors(settings, folder, embedder=embedder))
        model = await enter(open_chat_model(settings))
        ingestion = await enter(
            Ingestion(jobs=stores.jobs, books=stores.books, embedder=embedder, store=vectors)
        )
        library = Library(
            books=stores.books, policies=stores.policies, default_book=settings.default_book
        )
        retriever = Retriever(embedder=embedder, store=vectors)
        metrics, bell = Metrics(), Bell()
        yield Services(
            name=worker_name(folder),
            settings=settings,
            stores=stores,
            vectors=vectors,
            embedder=embedder,
            model=model,
            library=library,
            retriever=retriever,
            ingestion=ingestion,
            answering=answering(settings, stores, library, retriever, model),
            desk=Desk(ledger=stores.ledger, bell=bell, observer=metrics),
            bell=bell,
            metrics=metrics,
            housekeeping=Housekeeping(conversations=stores.conversations),
            gaps=Gaps(store=stores.gaps, embedder=await enter(open_own_embedder(choice, embedder))),
            web_replies=WebReplies(),
        )


@contextlib.asynccontextmanager
async def open_stores(settings: Settings) -> AsyncIterator[Stores]:
    async with open_database(settings.database) as database:
        yield Stores(
            conversations=Conversations(database),
            ledger=QuestionLedger(database),
            books=Books(database),
            policies=Policies(database),
            jobs=Jobs(database),
            feedback=Feedback(database),
            gaps=GapRecords(database),
            stats=StatsRecords(database),
            stories=Stories(database),
            markers=Markers(database),
        )


def answering(
    settings: Settings, stores: Stores, library: Library, retriever: Retriever, model: ChatModel
) -> Answering:
    return Answering(
        agent=Agent(model=model, retriever=retriever, config=agent_config(settings)),
        conversations=stores.conversations,
        library=library,
        apologise=apologise,
        model=model.name,
        max_turns=settings.agent_max_turns,
    )


def agent_config(settings: Settings) -> AgentConfig:
    prompt = settings.agent_system_prompt_file
    return AgentConfig(
        model=settings.openai_model,
        max_turns=settings.agent_max_turns,
        profile=settings.confidence_profile,
        system_prompt=prompt.read_text(encoding="utf-8") if prompt else SYSTEM_PROMPT,
        temperature=settings.agent_temperature,
        max_tokens=settings.agent_max_tokens,
        top_k=settings.agent_top_k,
        score_threshold=settings.agent_score_threshold,
        answer_seconds=settings.answer_seconds,
    )


def desk_limits(settings: Settings) -> DeskLimits:
    return DeskLimits(answer_seconds=settings.answer_seconds)


def web_parts(services: Services, readiness: AsksReadiness, mounts: Mapping[str, Any]) -> WebParts:
    async def metrics() -> bytes:
        return services.metrics.page(waiting=await services.stores.ledger.waiting())

    starters = Starters(
        books=services.stores.books,
        files=services.stores.jobs,
        passages=services.vectors,
        retriever=services.retriever,
        profile=profile_named(services.settings.confidence_profile),
    )
    return WebParts(
        starters=starters,
        desk=services.desk,
        replies=services.web_replies,
        conversations=services.stores.conversations,
        answers=services.stores.ledger,
        retriever=services.retriever,
        passages=services.vectors,
        library=services.library,
        books=services.stores.books,
        jobs=services.stores.jobs,
        ingestion=services.ingestion,
        feedback=services.stores.feedback,
        gaps=services.gaps,
        stats=services.stores.stats,
        stories=services.stores.stories,
        policies=services.stores.policies,
        readiness=readiness,
        metrics=metrics,
        mounts=mounts,
        version=version("footnote-bot"),
    )
