"""footnote eval: what is found, answered, refused and cited, measured on a question set."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from bot.agents import agent_config, judge_of, verifier_of
from bot.commands.eval_shown import show, write_reports
from bot.commands.measuring import (
    CACHE_FOLDER,
    filled_index,
    opened_model,
    opened_reranker,
    progress,
)
from bot.door import own_folder
from bot.output import notices, print_json
from bot.providers import open_chat_model
from bot.settings import Settings
from rag_core.agent.agent import Agent
from rag_core.agent.confidence.judgement import Judge
from rag_core.errors import ConfigurationError
from rag_core.evaluation.answer_quality import (
    Given,
    citation_quality,
    given_answers,
    page_of_chunks,
    refusal_quality,
)
from rag_core.evaluation.gates import Gate, Passage, gates_named, passages
from rag_core.evaluation.question_set import QuestionSet, load_question_set
from rag_core.evaluation.report import report_on
from rag_core.evaluation.retrieval_quality import rankings, retrieval_quality
from rag_core.evaluation.rows import rows_of
from rag_core.evaluation.run import Run
from rag_core.reading.nearness import NearnessReader
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.sections import SectionSearch


class Measured(StrEnum):
    """What a question set can tell."""

    RETRIEVAL = "retrieval"
    REFUSAL = "refusal"
    CITATIONS = "citations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to measure, how, and what to make of it."""

    parts: frozenset[Measured]
    with_history: bool
    gates: tuple[Gate, ...]
    reports: tuple[Path, ...]
    as_json: bool

    @property
    def asks(self) -> bool:
        """Whether questions are asked, not only searched for."""
        return bool(self.parts - {Measured.RETRIEVAL})


def wanted(
    what: str | None, *, with_history: bool, at_least: str, reports: Sequence[Path], as_json: bool
) -> Wanted:
    """A report shows everything unless told otherwise, and a gate has its figure measured."""
    gates = gates_named(at_least)
    named = measures_named(what) if what else set(Measured) if reports else {Measured.RETRIEVAL}
    return Wanted(
        parts=frozenset(named | {Measured(gate.figure.part) for gate in gates}),
        with_history=with_history,
        gates=gates,
        reports=tuple(reports),
        as_json=as_json,
    )


def measures_named(what: str) -> set[Measured]:
    try:
        return {Measured(name.strip()) for name in what.split(",")}
    except ValueError:
        raise ConfigurationError(
            f"--what was {what!r}; it is one or more of {', '.join(Measured)}, with commas between."
        ) from None


async def evaluate(folder: Path, questions: Sequence[Path], wants: Wanted) -> int:
    found = await asyncio.to_thread(load_question_set, folder, questions)
    check_measurable(found, wants.parts, folder)
    run = await measured(found, wants)
    passed = passages(wants.gates, run)
    await asyncio.to_thread(write_reports, report_on(run, passed), wants.reports)
    if wants.as_json:
        print_json(run.document())
    else:
        show(run)
    return told(passed)


def check_measurable(found: QuestionSet, parts: frozenset[Measured], folder: Path) -> None:
    has_relevant = any(question.relevant_ids for question in found.questions)
    if not found.questions or (parts <= {Measured.RETRIEVAL} and not has_relevant):
        raise ConfigurationError(
            f"No question about {folder} has relevant_ids: there is nothing to measure."
        )
    for page, question in found.lost_pages.items():
        notices().print(
            f"Question {question}: the relevant page {page} is not in the set; it counts as not"
            " found."
        )


def told(passed: Sequence[Passage]) -> int:
    """Which gates are shut, on standard error; the exit code."""
    shut = [one for one in passed if not one.is_open]
    for one in shut:
        notices().print(str(one))
    return 1 if shut else 0


async def measured(found: QuestionSet, wants: Wanted) -> Run:
    """Search and ask as readers are served: their embedder, rerank model, agent and cut-offs."""
    async with (
        opened_model() as (settings, embedder, data_folder),
        opened_reranker(settings) as reranker,
        filled_index(found, embedder, own_folder(data_folder / CACHE_FOLDER), reranker) as index,
    ):
        run = Run(
            question_set=found.name,
            embedding_model=embedder.model,
            history="on" if wants.with_history else "off",
            pages=len(found.pages),
            measured_at=datetime.now(UTC),
        )
        ranked = None
        if Measured.RETRIEVAL in wants.parts:
            with progress("searching") as shown:
                ranked = await rankings(found, index, with_history=wants.with_history, told=shown)
        given: list[Given] = []
        if wants.asks:
            judge = judge_of(
                settings, data_folder, embedder=embedder.model, reader=NearnessReader(embedder)
            )
            name, given = await answers(found, index, settings, judge, wants.with_history)
            run = run.model_copy(update={"model": name, "profile": settings.confidence_profile})
    pages = await asyncio.to_thread(page_of_chunks, found, datetime.now(UTC)) if given else {}
    asks = wants.parts if given else frozenset()
    return run.model_copy(
        update={
            "rerank": reranker.told if reranker else None,
            "retrieval": None if ranked is None else retrieval_quality(ranked),
            "refusal": refusal_quality(given) if Measured.REFUSAL in asks else None,
            "citations": citation_quality(given, pages) if Measured.CITATIONS in asks else None,
            "questions": rows_of(found, ranked=ranked or (), given=given, pages=pages),
        }
    )


async def answers(
    found: QuestionSet,
    retriever: Retriever,
    settings: Settings,
    judge: Judge,
    with_history: bool,
) -> tuple[str, list[Given]]:
    """The model's name, and what the agent, as it is set up, answers to the set's questions."""
    async with open_chat_model(settings) as model:
        agent = Agent(
            model=model,
            retriever=SectionSearch(retriever),
            config=agent_config(settings),
            judge=judge,
            verifier=verifier_of(settings, model),
        )
        with progress("asking questions") as shown:
            given = await given_answers(found, agent, with_history=with_history, told=shown)
    return agent.signature, given
