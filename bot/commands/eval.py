"""footnote eval: what is found, answered, refused and cited, measured on a question set."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.agents import agent_config, profile_of
from bot.commands.measuring import CACHE_FOLDER, filled_index, opened_model, progress
from bot.door import own_folder
from bot.output import print_json, terminal
from bot.providers import open_chat_model
from bot.settings import Settings
from rag_core.agent.agent import Agent
from rag_core.errors import ConfigurationError
from rag_core.evaluation.answer_quality import (
    citation_quality,
    given_answers,
    refusal_quality,
)
from rag_core.evaluation.question_set import QuestionSet, load_question_set
from rag_core.evaluation.retrieval_quality import measure_retrieval
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.widening import WideSearch

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "retrieval": {
        "nDCG@10": "ndcg_at_10",
        "Recall@5": "recall_at_5",
        "MRR@10": "mrr_at_10",
    },
    "refusal": {
        "answerable": "answerable",
        "answered": "answer_rate",
        "not answerable": "unanswerable",
        "refused": "refusal_rate",
        "AUC of confidence": "confidence_auc",
        "errors": "errors",
    },
    "citations": {
        "answers with footnotes": "cited_answers",
        "cited pages relevant": "precision",
        "right page first": "right_page_first",
        "gold answers": "questions_with_gold",
        "gold in reply": "gold_in_reply",
    },
}
"""What each table shows, and the figure's name in the document."""


class Measured(StrEnum):
    """What a question set can tell."""

    RETRIEVAL = "retrieval"
    REFUSAL = "refusal"
    CITATIONS = "citations"


async def evaluate(
    folder: Path, questions: Sequence[Path], *, what: str, with_history: bool, as_json: bool
) -> int:
    wanted = measures_named(what)
    found = await asyncio.to_thread(load_question_set, folder, questions)
    check_measurable(found, wanted, folder)
    async with opened_model() as (settings, embedder, data_folder):
        cache = own_folder(data_folder / CACHE_FOLDER)
        async with filled_index(found, embedder, cache) as retriever:
            document: dict[str, Any] = {
                "question_set": found.name,
                "embedding_model": embedder.model,
                "history": "on" if with_history else "off",
                "pages": len(found.pages),
            }
            if Measured.RETRIEVAL in wanted:
                document["retrieval"] = await retrieval(found, retriever, with_history)
            if wanted - {Measured.RETRIEVAL}:
                profile = profile_of(settings, data_folder, embedder=embedder.model)
                agent = functools.partial(
                    Agent,
                    retriever=WideSearch(retriever),
                    config=agent_config(settings),
                    profile=profile,
                )
                document |= await answers(found, agent, settings, wanted, with_history)
    if as_json:
        print_json(document)
    else:
        show(document, terminal())
    return 0


def measures_named(what: str) -> set[Measured]:
    try:
        return {Measured(name.strip()) for name in what.split(",")}
    except ValueError:
        raise ConfigurationError(
            f"--what was {what!r}; it is one or more of {', '.join(Measured)}, with commas between."
        ) from None


def check_measurable(found: QuestionSet, wanted: set[Measured], folder: Path) -> None:
    has_relevant = any(question.relevant_ids for question in found.questions)
    if not found.questions or (wanted <= {Measured.RETRIEVAL} and not has_relevant):
        raise ConfigurationError(
            f"No question about {folder} has relevant_ids: there is nothing to measure."
        )


async def retrieval(found: QuestionSet, retriever: Retriever, with_history: bool) -> dict[str, Any]:
    with progress("searching") as told:
        quality = await measure_retrieval(found, retriever, with_history=with_history, told=told)
    return asdict(quality)


async def answers(
    found: QuestionSet,
    agent_with: Callable[..., Agent],
    settings: Settings,
    wanted: set[Measured],
    with_history: bool,
) -> dict[str, Any]:
    """What the agent, as it is set up, answers to the set's questions."""
    async with open_chat_model(settings) as model:
        with progress("asking questions") as told:
            agent = agent_with(model=model)
            given = await given_answers(found, agent, with_history=with_history, told=told)
    document: dict[str, Any] = {"model": model.name, "profile": settings.confidence_profile}
    if Measured.REFUSAL in wanted:
        document["refusal"] = asdict(refusal_quality(given))
    if Measured.CITATIONS in wanted:
        document["citations"] = asdict(citation_quality(given, found, now=datetime.now(UTC)))
    return document


def show(document: dict[str, Any], console: Console) -> None:
    names = [document["question_set"], f"{document['pages']} pages"]
    if "retrieval" in document:
        names.append(f"{document['retrieval']['questions']} questions with relevant pages")
    names += [f"history {document['history']}", document["embedding_model"]]
    names += [f"{document['model']} model, {document['profile']}"] if "model" in document else []
    console.print(", ".join(names))
    for part, columns in COLUMNS.items():
        if part in document:
            console.print(table(document[part], columns))


def table(figures: dict[str, Any], columns: Mapping[str, str]) -> Table:
    shown = Table()
    for heading in columns:
        shown.add_column(heading, justify="right")
    shown.add_row(*(figure(figures[name]) for name in columns.values()))
    return shown


def figure(value: float | None) -> str:
    """A count as it is, a share or a score with three places; a dash for what nobody asked."""
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
