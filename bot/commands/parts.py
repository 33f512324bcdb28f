"""The parts of answering that can be switched off, to measure what each of them is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from bot.agents import agent_config, judge_of, verifier_of
from bot.settings import Settings
from rag_core.agent.agent import Agent
from rag_core.agent.checks.guard import guarded
from rag_core.agent.phrases import ENGLISH
from rag_core.agent.verification.check import AnswerCheck
from rag_core.evaluation.claim_quality import Check
from rag_core.ports import ChatModel, Reader
from rag_core.reading.words import WordReader
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.results import SearchResponse
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.sections import SectionSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Which parts are on: all of them, as readers are served."""

    thread: bool = True
    """The turns before a question."""
    sections: bool = True
    """Whole sections in the place of the chunks that were found."""
    reader: bool = True
    """The reader in the place of the question's words alone."""

    def without(self, name: str) -> Parts:
        return replace(self, **{name: False})


class ChunkSearch(SectionSearch):
    """Finds the chunks alone."""

    def __init__(self, retriever: Retriever) -> None:
        super().__init__(retriever)
        self._chunks = retriever

    async def search(self, query: SearchQuery, *, earlier: Sequence[str] = ()) -> SearchResponse:
        return await self._chunks.search(query, earlier=earlier)


PARTS = tuple(field.name for field in fields(Parts))


def agent_with(
    parts: Parts,
    *,
    model: ChatModel | None,
    index: Retriever,
    reader: Reader,
    embedder: str,
    settings: Settings,
    data_folder: Path,
) -> Agent:
    """The agent as readers are served, without the parts that are switched off."""
    reader = reader if parts.reader else WordReader()
    return Agent(
        model=model,
        retriever=SectionSearch(index) if parts.sections else ChunkSearch(index),
        config=agent_config(settings),
        judge=judge_of(settings, data_folder, embedder=embedder, reader=reader),
        verifier=verifier_of(settings, model),
    )


def claim_check() -> tuple[str, Check]:
    """The name of the verifier in use, and how it checks one claim."""
    return "code", claim_checks()["code"]


def claim_checks() -> dict[str, Check]:
    """Every verifier, and none, under which each claim stands."""
    return {"code": stands_by_code, "none": stands_unread}


async def stands_by_code(draft: str, evidence: RetrievalContext, question: str) -> bool:
    found = await AnswerCheck().check(guarded(draft), evidence, question=question, phrases=ENGLISH)
    return bool(found.text) and not found.faults


async def stands_unread(draft: str, evidence: RetrievalContext, question: str) -> bool:
    return True
