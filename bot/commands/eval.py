"""footnote eval: what is found, answered, refused and cited, measured on question sets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from bot.commands.eval_shown import show, write_reports
from bot.commands.measuring import (
    CACHE_FOLDER,
    filled_index,
    opened_model,
    opened_reranker,
    progress,
)
from bot.commands.parts import Parts, agent_with, claim_check
from bot.door import own_folder
from bot.output import notices, print_json
from bot.providers import open_chat_model, open_reader
from bot.settings import Settings
from rag_core.errors import ConfigurationError
from rag_core.evaluation.answer_figures import answer_figures, by_kind, by_set
from rag_core.evaluation.answer_quality import (
    Given,
    citation_quality,
    given_answers,
    page_of_chunks,
    refusal_quality,
)
from rag_core.evaluation.claim_quality import checked_claims, claim_figures, claims_by_kind
from rag_core.evaluation.gates import Gate, Passage, gates_named, passages
from rag_core.evaluation.natural import LabelledClaim, Materials, load_materials
from rag_core.evaluation.question_set import QuestionSet
from rag_core.evaluation.report import report_on
from rag_core.evaluation.retrieval_quality import Ranked, rankings, retrieval_quality
from rag_core.evaluation.rows import QuestionRow, can_be_judged, rows_of
from rag_core.evaluation.run import Run
from rag_core.ports import Reader
from rag_core.retrieval.retriever import Retriever


class Measured(StrEnum):
    """What question sets and claims can tell."""

    RETRIEVAL = "retrieval"
    REFUSAL = "refusal"
    CITATIONS = "citations"
    ANSWERS = "answers"
    CLAIMS = "claims"


ASKED = frozenset({Measured.REFUSAL, Measured.CITATIONS, Measured.ANSWERS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to measure, how, and what to make of it."""

    named: frozenset[Measured]
    """Empty: what the sets are made for."""
    with_history: bool
    gates: tuple[Gate, ...]
    reports: tuple[Path, ...]
    as_json: bool


def wanted(
    what: str | None, *, with_history: bool, at_least: str, reports: Sequence[Path], as_json: bool
) -> Wanted:
    return Wanted(
        named=frozenset(measures_named(what)) if what else frozenset(),
        with_history=with_history,
        gates=gates_named(at_least),
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


async def evaluate(folders: Sequence[Path], questions: Sequence[Path], wants: Wanted) -> int:
    found = await asyncio.to_thread(load_materials, folders, questions)
    parts = parts_to_measure(found, wants)
    check_measurable(found, parts, folders)
    run = await measured(found, parts, with_history=wants.with_history)
    passed = passages(wants.gates, run)
    await asyncio.to_thread(write_reports, report_on(run, passed), wants.reports)
    if wants.as_json:
        print_json(run.document())
    else:
        show(run)
    return told(passed)


def parts_to_measure(found: Materials, wants: Wanted) -> frozenset[Measured]:
    """What was named; else what the sets are made for, or all that they can tell where there is a
    report. A gate has its figure measured."""
    gates = {Measured(gate.figure.part) for gate in wants.gates}
    if wants.named:
        return wants.named | gates
    questions = [question for each in found.sets for question in each.questions]
    parts = {Measured.CLAIMS} if found.claims else set()
    if any(question.is_natural for question in questions):
        parts.add(Measured.ANSWERS)
    elif found.sets:
        parts.add(Measured.RETRIEVAL)
    if wants.reports and found.sets:
        parts |= {Measured.RETRIEVAL, Measured.REFUSAL, Measured.CITATIONS}
        parts |= {Measured.ANSWERS} if any(question.must for question in questions) else set()
    return frozenset(parts | gates)


def check_measurable(found: Materials, parts: frozenset[Measured], folders: Sequence[Path]) -> None:
    places = ", ".join(map(str, folders))
    questions = [question for each in found.sets for question in each.questions]
    if Measured.CLAIMS in parts and not found.claims:
        raise ConfigurationError(
            f"There are no claims about {places}: name a file of claims with --questions."
        )
    if parts <= {Measured.CLAIMS}:
        return
    has_relevant = any(question.relevant_ids for question in questions)
    if not questions or (parts <= {Measured.RETRIEVAL, Measured.CLAIMS} and not has_relevant):
        raise ConfigurationError(
            f"No question about {places} has relevant_ids: there is nothing to measure."
        )
    if Measured.ANSWERS in parts and not any(map(can_be_judged, questions)):
        raise ConfigurationError(
            f"No question about {places} has must or gold_answers: no answer can be judged."
        )
    for each in found.sets:
        for page, question in each.lost_pages.items():
            notices().print(
                f"Question {question}: the relevant page {page} is not in the set; it counts as not"
                " found."
            )
        for failure in each.failures:
            notices().print(f"{each.name}: {failure.source_file} was not read: {failure.reason}.")


def told(passed: Sequence[Passage]) -> int:
    """Which gates are shut, on standard error; the exit code."""
    shut = [one for one in passed if not one.is_open]
    for one in shut:
        notices().print(str(one))
    return 1 if shut else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMeasurement:
    """What was found and answered for the questions of one set."""

    ranked: Sequence[Ranked] = ()
    given: Sequence[Given] = ()
    rows: Sequence[QuestionRow] = ()
    model: str | None = None


async def measured(found: Materials, parts: frozenset[Measured], *, with_history: bool) -> Run:
    """Search and ask as readers are served: their embedder, rerank model, agent and cut-offs."""
    async with (
        opened_model() as (settings, embedder, data_folder),
        opened_reranker(settings) as reranker,
        open_reader() as reader,
    ):
        cache = own_folder(data_folder / CACHE_FOLDER)
        run = Run(
            question_set=", ".join(each.name for each in found.sets) or "claims",
            embedding_model=embedder.model,
            history="on" if with_history else "off",
            pages=sum(len(each.pages) for each in found.sets),
            measured_at=datetime.now(UTC),
        )
        each_set = []
        for one in found.sets if parts - {Measured.CLAIMS} else ():
            async with filled_index(one, embedder, cache, reranker) as index:
                each_set.append(
                    await measured_set(
                        one, parts, Parts(thread=with_history),
                        index=index, reader=reader, embedder=embedder.model, settings=settings,
                        data_folder=data_folder,
                    )
                )  # fmt: skip
        if Measured.CLAIMS in parts:
            run = await with_claims(run, found.claims)
    return with_questions(run, parts, each_set).model_copy(
        update={
            "rerank": reranker.told if reranker else None,
            "profile": settings.confidence_profile if parts & ASKED else None,
        }
    )


async def measured_set(
    one: QuestionSet,
    parts: frozenset[Measured],
    switched: Parts,
    *,
    index: Retriever,
    reader: Reader,
    embedder: str,
    settings: Settings,
    data_folder: Path,
) -> SetMeasurement:
    ranked: Sequence[Ranked] = ()
    given: Sequence[Given] = ()
    name = None
    if Measured.RETRIEVAL in parts:
        with progress(f"searching {one.name}") as shown:
            ranked = await rankings(one, index, with_history=switched.thread, told=shown)
    if parts & ASKED:
        pages = await asyncio.to_thread(page_of_chunks, one, datetime.now(UTC))
        async with open_chat_model(settings) as model:
            agent = agent_with(
                switched, model=model, index=index, reader=reader, embedder=embedder,
                settings=settings, data_folder=data_folder,
            )  # fmt: skip
            name = agent.signature
            with progress(f"asking about {one.name}") as shown:
                given = await given_answers(
                    one, agent, pages=pages, with_history=switched.thread, told=shown
                )
    return SetMeasurement(
        ranked=ranked, given=given, rows=rows_of(one, ranked=ranked, given=given), model=name
    )


async def with_claims(run: Run, claims: Sequence[LabelledClaim]) -> Run:
    name, check = claim_check()
    with progress("checking claims") as shown:
        rows = await checked_claims(claims, check, told=shown)
    return run.model_copy(
        update={
            "verifier": name,
            "claims": claim_figures(rows),
            "claims_by_kind": claims_by_kind(rows),
            "checked_claims": rows,
        }
    )


def with_questions(run: Run, parts: frozenset[Measured], sets: Sequence[SetMeasurement]) -> Run:
    ranked = [one for each in sets for one in each.ranked]
    given = [one for each in sets for one in each.given]
    rows = tuple(row for each in sets for row in each.rows)
    answers = {
        "answers": answer_figures(rows),
        "answers_by_set": by_set(rows),
        "answers_by_kind": by_kind(rows),
    }
    return run.model_copy(
        update={
            "model": next((each.model for each in sets), None),
            "retrieval": retrieval_quality(ranked) if Measured.RETRIEVAL in parts else None,
            "refusal": refusal_quality(given) if Measured.REFUSAL in parts else None,
            "citations": citation_quality(given) if Measured.CITATIONS in parts else None,
            "questions": rows,
            **(answers if Measured.ANSWERS in parts else {}),
        }
    )
