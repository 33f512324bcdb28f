"""The buttons below an answer. What they belong to stands in them, so they outlive a restart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.desk.incoming import IncomingQuestion

ROW, BUTTON, TEXT_INPUT = 1, 2, 4
SECONDARY, DANGER = 2, 4
PARAGRAPH = 2
LONGEST_REASON = 1_000
MARK = re.compile(r"footnote:(\w+):([0-9a-f]{32})(?::(\S{1,40}))?")


class Press(StrEnum):
    """What a button or form asks for; the value stands in messages that exist already."""

    HELPFUL = "helpful"
    NOT_HELPFUL = "unhelpful"
    EVIDENCE = "evidence"
    DELETE = "delete"
    REASON = "reason"


LABELS = {
    Press.HELPFUL: "Helpful",
    Press.NOT_HELPFUL: "Not helpful",
    Press.EVIDENCE: "Show evidence",
    Press.DELETE: "Delete",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A button of ours: what it does, to which answer, and for whom alone."""

    press: Press
    answer_id: UUID
    owner_id: str = ""


def read_mark(custom_id: str) -> Pressed | None:
    """What a custom id of ours says; nothing for one that we do not know."""
    found = MARK.fullmatch(custom_id)
    if found is None or found[1] not in set(Press):
        return None
    return Pressed(press=Press(found[1]), answer_id=UUID(found[2]), owner_id=found[3] or "")


def mark(press: Press, answer_id: UUID, owner_id: str = "") -> str:
    return ":".join(["footnote", press.value, answer_id.hex, *([owner_id] if owner_id else [])])


def buttons(response: AgentResponse, question: IncomingQuestion) -> list[dict[str, Any]]:
    """The row below an answer; none below greetings and what was not answered for an error."""
    wanted = [_button(press, response, question) for press in offered(response, question)]
    return [{"type": ROW, "components": wanted}] if wanted else []


def offered(response: AgentResponse, question: IncomingQuestion) -> list[Press]:
    """What only the asker sees, the asker removes without us."""
    refused = response.outcome is Outcome.NO_RESULTS
    if not response.citations and not refused:
        return []
    rating = [Press.HELPFUL, Press.NOT_HELPFUL]
    evidence = [Press.EVIDENCE] if response.citations else []
    return [*rating, *evidence, *([] if question.private else [Press.DELETE])]


def _button(press: Press, response: AgentResponse, question: IncomingQuestion) -> dict[str, Any]:
    deletes = press is Press.DELETE
    return {
        "type": BUTTON,
        "style": DANGER if deletes else SECONDARY,
        "label": LABELS[press],
        "custom_id": mark(press, response.answer_id, question.asker_id if deletes else ""),
    }


def reason_form(answer_id: UUID) -> dict[str, Any]:
    """Asks why an answer did not help; it may be sent without a word."""
    field = {
        "type": TEXT_INPUT,
        "style": PARAGRAPH,
        "custom_id": "reason",
        "label": "What was wrong or missing? (optional)",
        "required": False,
        "max_length": LONGEST_REASON,
    }
    return {
        "title": "This answer did not help",
        "custom_id": mark(Press.REASON, answer_id),
        "components": [{"type": ROW, "components": [field]}],
    }
