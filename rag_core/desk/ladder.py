"""What is tried when a platform refuses to show an answer: plainer and plainer forms of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.agent.checks.guard import guarded
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.notices import notices_in
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, Outlet, Rung
from rag_core.ports import Ledger

APOLOGY = "apology"
"""The last rung: one sentence with the id that the answer is found by."""
RUNGS = (*(rung.value for rung in Rung), APOLOGY)


class Ladder:
    """Renders a settled answer for the next rung that looks different from the last one."""

    def __init__(self, *, ledger: Ledger, worker: str) -> None:
        self._ledger = ledger
        self._worker = worker

    async def down(
        self, claim: OpenQuestion, shown: Sequence[OutgoingPart], outlet: Outlet
    ) -> tuple[OpenQuestion, tuple[OutgoingPart, ...]] | None:
        """The claim on its new rung with its parts; None when there is no rung left."""
        response = await self._ledger.response_to(claim.question_id)
        refused = [part.payload for part in shown]
        for rung in RUNGS[RUNGS.index(claim.rung) + 1 :] if response else ():
            assert response is not None
            payloads = rendered(outlet, response, claim.question, rung)
            if list(payloads) == refused:
                continue
            parts = await self._ledger.step_down(
                claim.question_id,
                worker=self._worker,
                revision=claim.revision,
                rung=rung,
                parts=payloads,
            )
            return replace(claim, rung=rung), parts
        return None


def rendered(
    outlet: Outlet, response: AgentResponse, question: IncomingQuestion, rung: str
) -> Sequence[str]:
    """An answer as one rung shows it."""
    if rung == APOLOGY:
        apology = not_shown(response, question)
        return outlet.renderer.render(apology, question, rung=Rung.PLAIN)
    return outlet.renderer.render(response, question, rung=Rung(rung))


def not_shown(response: AgentResponse, question: IncomingQuestion) -> AgentResponse:
    sentence = guarded(notices_in(question.locale).not_shown.format(id=response.answer_id))
    return replace(
        response,
        answer=sentence,
        error=sentence,
        outcome=Outcome.ERROR,
        confidence=0.0,
        confidence_level=ConfidenceLevel.INSUFFICIENT,
        citations=(),
        marks=(),
        removed=(),
        sources=(),
        suggestions=(),
    )
