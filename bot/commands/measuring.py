"""What measuring needs: the embedder that serves, an index of one question set, a progress bar."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bot.door import own_folder
from bot.output import notices
from bot.providers import embedding_choice, open_embedder, open_reranker
from bot.settings import Settings, read_settings
from rag_core.evaluation.question_set import QuestionSet
from rag_core.evaluation.retrieval_quality import Told, fill_index, index_key
from rag_core.evaluation.watched_reranker import WatchedReranker
from rag_core.ports import Embedder, Reranker
from rag_core.providers.embedders.models import WAY_OF_READING
from rag_core.retrieval.retriever import Retriever

CACHE_FOLDER = "eval"


@contextlib.asynccontextmanager
async def opened_model() -> AsyncIterator[tuple[Settings, Embedder, Path]]:
    """The settings, the embedder that readers are served with, and the data folder."""
    settings = read_settings()
    folder = own_folder(settings.data_dir)
    choice = await embedding_choice(settings, folder)
    async with open_embedder(settings, choice) as embedder:
        yield settings, embedder, folder


@contextlib.asynccontextmanager
async def opened_reranker(settings: Settings) -> AsyncIterator[WatchedReranker | None]:
    """The rerank model that readers are served with, if one is named."""
    async with open_reranker(settings) as reranker:
        named = settings.cohere_rerank_model or ""
        yield None if reranker is None else WatchedReranker(reranker, model=named)


@contextlib.asynccontextmanager
async def filled_index(
    found: QuestionSet, embedder: Embedder, cache: Path, reranker: Reranker | None = None
) -> AsyncIterator[Retriever]:
    """An index of this set alone: no reader's book is written or read."""
    from rag_core.providers.edge.shard import LAYOUT
    from rag_core.providers.edge.store import open_edge_store

    now = datetime.now(UTC)
    model = f"{embedder.model}/{WAY_OF_READING}"
    key = await asyncio.to_thread(index_key, found, model=model, now=now)
    async with open_edge_store(
        cache / f"{key}-{LAYOUT}", dimension=embedder.dimension, model=embedder.model
    ) as store:
        with progress("embedding pages") as told:
            await fill_index(found, store=store, embedder=embedder, now=now, told=told)
        yield Retriever(embedder=embedder, store=store, reranker=reranker)


@contextlib.contextmanager
def progress(doing: str) -> Iterator[Told]:
    """How far it is, on standard error."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=notices(), transient=True) as shown:
        task = shown.add_task(doing, total=None)
        yield lambda done, of: shown.update(task, completed=done, total=of)
