"""footnote eval: how well the right pages are found, measured on a question set."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from bot.door import own_folder
from bot.output import notices, print_json, terminal
from bot.providers import embedding_choice, open_embedder
from bot.settings import read_settings
from rag_core.errors import ConfigurationError
from rag_core.evaluation.question_set import QuestionSet, load_question_set
from rag_core.evaluation.retrieval_quality import (
    Told,
    fill_index,
    index_key,
    measure_retrieval,
)
from rag_core.ports import Embedder
from rag_core.retrieval.retriever import Retriever

CACHE_FOLDER = "eval"


async def evaluate(
    folder: Path, questions: Sequence[Path], *, with_history: bool, as_json: bool
) -> int:
    found = await asyncio.to_thread(load_question_set, folder, questions)
    if not any(question.relevant_ids for question in found.questions):
        raise ConfigurationError(
            f"No question about {folder} has relevant_ids: there is nothing to measure."
        )
    async with opened_model() as (embedder, data_folder):
        document = await measured(
            found, embedder, own_folder(data_folder / CACHE_FOLDER), with_history
        )
    if as_json:
        print_json(document)
    else:
        show(document, terminal())
    return 0


@contextlib.asynccontextmanager
async def opened_model() -> AsyncIterator[tuple[Embedder, Path]]:
    """The embedder that readers are served with, and the data folder."""
    settings = read_settings()
    folder = own_folder(settings.data_dir)
    choice = await embedding_choice(settings, folder)
    async with open_embedder(settings, choice) as embedder:
        yield embedder, folder


async def measured(
    found: QuestionSet, embedder: Embedder, cache: Path, with_history: bool
) -> dict[str, Any]:
    """Search an index of this set alone: no reader's book is written or read."""
    from rag_core.providers.qdrant_edge import open_edge_store

    now = datetime.now(UTC)
    key = await asyncio.to_thread(index_key, found, model=embedder.model, now=now)
    async with open_edge_store(
        cache / key, dimension=embedder.dimension, model=embedder.model
    ) as store:
        with progress("embedding pages") as told:
            await fill_index(found, store=store, embedder=embedder, now=now, told=told)
        with progress("asking questions") as told:
            quality = await measure_retrieval(
                found,
                Retriever(embedder=embedder, store=store),
                with_history=with_history,
                told=told,
            )
    return {
        "question_set": found.name,
        "embedding_model": embedder.model,
        "history": "on" if with_history else "off",
        "pages": len(found.pages),
        "retrieval": asdict(quality),
    }


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


def show(document: dict[str, Any], console: Console) -> None:
    quality = document["retrieval"]
    console.print(
        f"{document['question_set']}: {document['pages']} pages, {quality['questions']} questions,"
        f" history {document['history']}, {document['embedding_model']}"
    )
    table = Table()
    for heading in ("nDCG@10", "Recall@5", "MRR@10"):
        table.add_column(heading, justify="right")
    names = ("ndcg_at_10", "recall_at_5", "mrr_at_10")
    table.add_row(*(f"{quality[name]:.3f}" for name in names))
    console.print(table)
