"""footnote calibrate: from which confidence on it is right to answer, measured and stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.table import Table

from bot.agents import judge_of
from bot.calibration import keep_estimate
from bot.commands.measuring import (
    CACHE_FOLDER,
    filled_index,
    opened_model,
    opened_reranker,
    progress,
)
from bot.door import own_folder
from bot.output import print_json, terminal
from bot.providers import open_reader
from rag_core.agent.confidence.judgement import Judge
from rag_core.evaluation.calibrating import Observation, calibrated, figures_of, observed
from rag_core.evaluation.natural import load_materials
from rag_core.evaluation.question_set import QuestionSet
from rag_core.reading.estimate import Estimate
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.sections import SectionSearch


async def calibrate(folders: Sequence[Path], questions: Sequence[Path], *, as_json: bool) -> int:
    """Several sets are each asked the others' questions, too: those have no answer there."""
    sets = (await asyncio.to_thread(load_materials, folders, questions)).sets
    async with (
        opened_model() as (settings, embedder, data_folder),
        opened_reranker(settings) as reranker,
        open_reader() as reader,
    ):
        cache = own_folder(data_folder / CACHE_FOLDER)
        judge = judge_of(settings, data_folder, embedder=embedder.model, reader=reader)
        indexes = [filled_index(each, embedder, cache, reranker) for each in sets]
        seen = [
            one
            for each, index in zip(sets, indexes, strict=True)
            for one in await observations(each, sets, index, judge)
        ]
        now = datetime.now(UTC)
        found = calibrated(
            seen,
            embedder=embedder.model,
            reader=reader.name,
            measured_on=told_of(seen, now),
        )
        file = keep_estimate(data_folder, found)
    document = {
        "estimate": found.model_dump(),
        "sets": [asdict(figures) for figures in figures_of(found, seen)],
        "file": str(file),
    }
    if as_json:
        print_json(document)
    else:
        show(document)
    return 0


async def observations(
    own: QuestionSet,
    sets: Sequence[QuestionSet],
    index: AbstractAsyncContextManager[Retriever],
    judge: Judge,
) -> list[Observation]:
    others = [question for other in sets if other is not own for question in other.questions]
    async with index as retriever:
        sections = SectionSearch(retriever)
        with progress(f"asking {own.name}") as told:
            seen = await observed(own, own.questions, sections, judge, name=own.name, told=told)
        with progress(f"asking {own.name} about other things") as told:
            name = f"{own.name}, others' questions"
            return seen + await observed(own, others, sections, judge, name=name, told=told)


def told_of(seen: Sequence[Observation], now: datetime) -> str:
    """How it was measured, in one sentence that is kept with the figures."""
    yes = sum(one.is_answerable for one in seen)
    names = ", ".join(dict.fromkeys(one.of for one in seen))
    return (
        f"{now:%Y-%m-%d}: logistic fit over {yes} questions that the pages answer and"
        f" {len(seen) - yes} that they do not ({names}); every set weighs the same."
    )


def show(document: dict[str, Any]) -> None:
    console = terminal()
    found = Estimate.model_validate(document["estimate"])
    table = Table()
    for heading in ("set", "answerable", "answered", "not answerable", "refused", "AUC"):
        table.add_column(heading, justify="left" if heading == "set" else "right")
    for one in document["sets"]:
        answered = f"{one['answered']:.3f}" if one["answerable"] else "–"
        refused = f"{one['refused']:.3f}" if one["unanswerable"] else "–"
        both = one["answerable"] and one["unanswerable"]
        table.add_row(
            one["of"], str(one["answerable"]), answered, str(one["unanswerable"]), refused,
            f"{one['auc']:.3f}" if both else "–",
        )  # fmt: skip
    console.print(table)
    console.print(
        f"{found.embedder}, {found.reader}: refused below {found.low}, unsure below {found.medium},"
        f" sure from {found.high}. Kept in {document['file']}; a running bot reads it when it"
        " starts again."
    )
