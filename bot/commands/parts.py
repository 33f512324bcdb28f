"""The parts of answering that can be switched off, to measure what each of them is worth."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

from bot.agents import agent_config, profile_of
from bot.settings import Settings
from rag_core.agent.agent import Agent
from rag_core.agent.checks.citations import checked
from rag_core.agent.checks.guard import guarded
from rag_core.agent.checks.support import Evidence
from rag_core.evaluation.claim_quality import Check
from rag_core.ports import ChatModel, Embedder
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.widening import WideSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Which parts are on: all of them, as readers are served."""

    thread: bool = True
    """The turns before a question."""
    sections: bool = True
    """What stands beside the passages found."""

    def without(self, name: str) -> Parts:
        return replace(self, **{name: False})


PARTS = tuple(field.name for field in fields(Parts))


def agent_with(
    parts: Parts,
    *,
    model: ChatModel,
    index: Retriever,
    embedder: Embedder,
    settings: Settings,
    data_folder: Path,
) -> Agent:
    return Agent(
        model=model,
        retriever=WideSearch(index) if parts.sections else index,
        config=agent_config(settings),
        profile=profile_of(settings, data_folder, embedder=embedder.model),
    )


def claim_check() -> tuple[str, Check]:
    """The name of the verifier in use, and how it checks one claim."""
    return "code", claim_checks()["code"]


def claim_checks() -> dict[str, Check]:
    """Every verifier, and none, under which each claim stands."""
    return {"code": stands_by_code, "none": stands_unread}


async def stands_by_code(draft: str, evidence: RetrievalContext, question: str) -> bool:
    found = checked(guarded(draft), Evidence(evidence, question=question))
    return bool(found.text) and not found.struck


async def stands_unread(draft: str, evidence: RetrievalContext, question: str) -> bool:
    return True
