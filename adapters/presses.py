"""The buttons below an answer: which there are, and what they are called, on every platform."""

from __future__ import annotations

from enum import StrEnum

from rag_core.agent.answer import AgentResponse, Outcome


class Press(StrEnum):
    """What a button or form asks for; the value stands in messages that exist already."""

    HELPFUL = "helpful"
    NOT_HELPFUL = "unhelpful"
    REASON = "reason"
    EVIDENCE = "evidence"
    PERSON = "person"
    RESOLVED = "resolved"
    AGAIN = "again"
    DELETE = "delete"


LABELS = {
    Press.HELPFUL: "Helpful",
    Press.NOT_HELPFUL: "Not helpful",
    Press.EVIDENCE: "Show evidence",
    Press.PERSON: "Ask a person",
    Press.RESOLVED: "Resolved",
    Press.AGAIN: "Ask again",
    Press.DELETE: "Delete",
}


def offered(response: AgentResponse, *, private: bool, has_staff: bool) -> list[Press]:
    """The buttons below an answer, in order: none below greetings and errors. What only the
    asker sees, the asker removes without us, and no staff could see what it is about."""
    refused = response.outcome is Outcome.NO_RESULTS
    if not response.citations and not refused:
        return []
    presses = [Press.HELPFUL, Press.NOT_HELPFUL]
    presses += [Press.EVIDENCE] if response.citations else []
    presses += [Press.PERSON] if has_staff and not private else []
    presses += [Press.AGAIN] if response.source_changed else []
    presses += [] if private else [Press.DELETE]
    return presses
