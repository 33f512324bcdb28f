"""The buttons below an answer. What they belong to stands in them, so they outlive a restart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from adapters.presses import LABELS, Press, offered
from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion

ROW, BUTTON, TEXT_INPUT = 1, 2, 4
SECONDARY, SUCCESS, DANGER = 2, 3, 4
STYLES = {Press.DELETE: DANGER, Press.RESOLVED: SUCCESS}
PARAGRAPH = 2
BUTTONS_A_ROW = 5
LONGEST_REASON = 1_000
MARK = re.compile(r"footnote:(\w+):([0-9a-f]{32})(?::(\S{1,40}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A button of ours: what it does, to which answer, and what else it must know."""

    press: Press
    answer_id: UUID
    detail: str = ""
    """Of a Delete button the message that asked, of a Resolved button who called for help."""


def read_mark(custom_id: str) -> Pressed | None:
    """What a custom id of ours says; nothing for one that we do not know."""
    found = MARK.fullmatch(custom_id)
    if found is None or found[1] not in set(Press):
        return None
    return Pressed(press=Press(found[1]), answer_id=UUID(found[2]), detail=found[3] or "")


def mark(press: Press, answer_id: UUID, detail: str = "") -> str:
    return ":".join(["footnote", press.value, answer_id.hex, *([detail] if detail else [])])


def buttons(
    response: AgentResponse, question: IncomingQuestion, *, has_staff: bool
) -> list[dict[str, Any]]:
    """The rows below an answer; none below greetings and what was not answered for an error."""
    presses = offered(response, private=question.private, has_staff=has_staff)
    deletes = {Press.DELETE: question.message_id}
    return rows([button(press, response.answer_id, deletes.get(press, "")) for press in presses])


def rows(wanted: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    starts = range(0, len(wanted), BUTTONS_A_ROW)
    return [
        {"type": ROW, "components": list(wanted[start : start + BUTTONS_A_ROW])} for start in starts
    ]


def button(press: Press, answer_id: UUID, detail: str = "") -> dict[str, Any]:
    return {
        "type": BUTTON,
        "style": STYLES.get(press, SECONDARY),
        "label": LABELS[press],
        "custom_id": mark(press, answer_id, detail),
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
