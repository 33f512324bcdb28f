"""The object graph: opened in order, closed in the reverse."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.apologies import apologise
from adapters.web.reply import WebReplies
from bot.agents import agent_config, judge_of, verifier_of
from bot.bounds import desk_bounds
from bot.door import worker_name
from bot.earlier import repeats_of
from bot.embedding import advice_on_renewal
from bot.forgetter import Forgetter
from bot.metrics import Metrics
from bot.providers import (
    INDEX_FOLDER,
    embedding_choice,
    open_chat_model,
    open_embedder,
    open_own_embedder,
    open_reader,
    open_reranker,
    open_vectors,
)
from bot.reading_links import LinkedAgent
from bot.services import Services
from bot.settings import Settings
from bot.stores import Stores, open_stores
from rag_core.agent.agent import Agent
from rag_core.agent.catalog import Catalog
from rag_core.books.library import Library
from rag_core.desk.answering import Answering, AnsweringAgent
from rag_core.desk.bell import Bell
from rag_core.desk.desk import Desk
from rag_core.desk.housekeeping import Housekeeping
from rag_core.desk.room import Room
from rag_core.desk.summaries import SummaryWriter
from rag_core.ingestion.gathering import Gathering
from rag_core.ingestion.pipeline import Ingestion
from rag_core.ingestion.timetable import Timetable
from rag_core.insight.gaps import Gaps
from rag_core.ports import Embedder, VectorStore
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.sections import SectionSearch
from rag_core.staff.shelf import StaffShelf

if TYPE_CHECKING:
    from rag_core.websites.fetcher import Fetcher

log = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def open_services(settings: Settings, folder: Path) -> AsyncIterator[Services]:
    """Open what answers need; close it again in the reverse order."""
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        bell = Bell()
        stores = await enter(open_stores(settings, stop_work=bell.call_back))
        choice = await embedding_choice(settings, folder)
        if choice.is_outdated:
            advice = advice_on_renewal(settings, folder / INDEX_FOLDER)
            log.warning("index keeps a former embedding model", extra={"advice": advice})
        embedder = await enter(open_embedder(settings, choice))
        vectors = await enter(open_vectors(settings, folder, embedder=embedder))
        model = await enter(open_chat_model(settings))
        ingestion = await enter(ingestion_of(settings, folder, stores, embedder, vectors))
        reranker = await enter(open_reranker(settings))
        gap_embedder = await enter(open_own_embedder(choice, embedder))
        library = library_of(settings, stores)
        staff_shelf = StaffShelf(store=stores.staff_answers, embedder=embedder)
        retriever = Retriever(
            embedder=embedder, store=vectors, reranker=reranker, beside=staff_shelf
        )
        reader = await enter(open_reader())
        judge = judge_of(settings, folder, embedder=embedder.model, reader=reader)
        agent = Agent(
            model=model,
            retriever=SectionSearch(retriever),
            config=agent_config(settings),
            judge=judge if model is None else None,  # a language model reads for itself
            verifier=verifier_of(settings, model),
            catalog=Catalog(books=stores.books, files=stores.jobs, passages=vectors),
        )
        answers = linked(settings, agent, vectors)
        summaries = None
        if model is not None:
            summaries = await enter(SummaryWriter(model=model, threads=stores.conversations))
        metrics, web_replies = Metrics(), WebReplies()
        forgetting = Forgetter(stores.forgetting)
        forgetting.add(lambda asker_id: web_replies.forget_all())
        forgetting.add(lambda asker_id: retriever.forget_queries())
        room = Room(folder, least=settings.free_space_mb * 2**20)
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
            timetable=Timetable(sources=stores.sources, jobs=stores.jobs, ingestion=ingestion),
            answering=answering(
                settings, stores, library, retriever, answers, agent.signature, summaries
            ),
            desk=desk_of(settings, stores, bell=bell, metrics=metrics, room=room),
            room=room,
            judge=judge,
            bell=bell,
            metrics=metrics,
            gaps=Gaps(store=stores.gaps, embedder=gap_embedder),
            housekeeping=housekeeping_of(settings, stores, forgetting),
            web_replies=web_replies,
            staff_shelf=staff_shelf,
            forgetting=forgetting,
        )


def ingestion_of(
    settings: Settings, folder: Path, stores: Stores, embedder: Embedder, vectors: VectorStore
) -> Ingestion:
    return Ingestion(
        jobs=stores.jobs,
        books=stores.books,
        embedder=embedder,
        store=vectors,
        gathers=gathering(settings, folder),
    )


def library_of(settings: Settings, stores: Stores) -> Library:
    return Library(
        books=stores.books,
        policies=stores.policies,
        default_book=settings.default_book,
        closed_books=settings.books_closed,
    )


def desk_of(
    settings: Settings, stores: Stores, *, bell: Bell, metrics: Metrics, room: Room
) -> Desk:
    return Desk(
        ledger=stores.ledger,
        bell=bell,
        observer=metrics,
        bounds=desk_bounds(settings),
        room=room,
    )


def housekeeping_of(settings: Settings, stores: Stores, forgetting: Forgetter) -> Housekeeping:
    return Housekeeping(
        conversations=stores.conversations,
        forgetting=forgetting,
        kept=days(settings.retention_days),
    )


def gathering(settings: Settings, folder: Path) -> Gathering:
    def fetcher() -> Fetcher:
        from rag_core.websites.fetcher import Fetcher  # only who reads a website needs it

        return Fetcher(version=version("footnote-bot"), allowed=settings.allowed_fetch_hosts)

    return Gathering(folder / "websites", fetcher=fetcher)


def linked(settings: Settings, agent: Agent, vectors: VectorStore) -> AnsweringAgent:
    """The agent; where readers reach the web door, its footnotes lead there."""
    if settings.public_url is None:
        return agent
    return LinkedAgent(agent, passages=vectors, public_url=settings.public_url)


def answering(
    settings: Settings,
    stores: Stores,
    library: Library,
    retriever: Retriever,
    agent: AnsweringAgent,
    model: str,
    summaries: SummaryWriter | None,
) -> Answering:
    return Answering(
        agent=agent,
        conversations=stores.conversations,
        library=library,
        apologise=apologise,
        model=model,
        max_turns=settings.agent_max_turns,
        repeats=repeats_of(stores.repeats, retriever),
        modules=retriever,
        summaries=summaries,
    )


def days(number: int | None) -> timedelta | None:
    return None if number is None else timedelta(days=number)
