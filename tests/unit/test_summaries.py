"""A model names what a long thread is about, beside the answers and never in their way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest

from rag_core.agent.model_events import FinishReason
from rag_core.conversation.state import Turn
from rag_core.desk.summaries import SummaryWriter
from rag_core.errors import UpstreamUnavailable
from tests.builders import a_thread, a_turn
from tests.fakes.scripted_model import Ending, Scripted, ScriptedModel

STATE = a_thread()
TURN = replace(a_turn(STATE.session_id, "How many a day?"), topic_summary="How many a day?")


@dataclass
class Threads:
    """Remembers what it was told."""

    summaries: list[tuple[UUID, str, str]] = field(default_factory=list)

    async def summarise(self, session_id: UUID, *, instead_of: str, summary: str) -> bool:
        self.summaries.append((session_id, instead_of, summary))
        return True


async def written(reply: Scripted, turn: Turn | None = TURN) -> tuple[Threads, ScriptedModel]:
    threads, model = Threads(), ScriptedModel([reply])
    async with SummaryWriter(model=model, threads=threads) as writer:
        writer.answered(STATE, turn)
        await writer.settled()
    return threads, model


async def test_the_model_is_shown_the_conversation_and_its_line_is_kept() -> None:
    threads, model = await written("Limits of uploads\nand guests")
    [(session_id, instead_of, summary)] = threads.summaries
    assert session_id == TURN.session_id
    assert (instead_of, summary) == ("How many a day?", "Limits of uploads and guests")
    assert "How many a day?" in model.requests[0][-1].content


async def test_a_line_is_never_longer_than_a_summary_may_be() -> None:
    threads, _ = await written("word " * 200)
    assert len(threads.summaries[0][2]) <= 200


@pytest.mark.parametrize(
    "reply",
    [UpstreamUnavailable("openai"), Ending("Limits of", FinishReason.LENGTH), "  ", ValueError()],
)
async def test_what_the_model_does_not_manage_changes_nothing(reply: Scripted) -> None:
    threads, _ = await written(reply)
    assert threads.summaries == []


@pytest.mark.parametrize("turn", [None, replace(TURN, topic_summary=None)])
async def test_a_short_thread_costs_no_call(turn: Turn | None) -> None:
    _, model = await written("Limits", turn)
    assert model.requests == []
