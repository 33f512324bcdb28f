"""The buttons below an answer. What they belong to stands in them, so they outlive a restart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from adapters.presses import LABELS, Press, offered
from adapters.slack.answering.blocks import Block
from adapters.slack.hearing.shapes import part
from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion

ACTION = "footnote"
RATE = f"{ACTION}:rate"
SHARE, KEEP = "share", "keep"
PRIVATE_LABELS = {SHARE: "Share", KEEP: "Keep"}
CLOSES = {"callback": f"{ACTION}:reason", "block": "reason", "field": "words"}
LONGEST_REASON = 1_000
RATINGS = (Press.HELPFUL, Press.NOT_HELPFUL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A button of ours: what it does, to which answer, and whose question it belongs to."""

    act: str
    answer_id: UUID
    asker_id: str = ""
    message_id: str = ""
    """The message of the question; on a call for a person, who made the call."""

    @property
    def askers(self) -> frozenset[str]:
        """Who asked the question, and who called a person for it."""
        return frozenset(filter(None, (self.asker_id, self.message_id)))


def read_press(action: Mapping[str, Any]) -> Pressed | None:
    """What a pressed button says; nothing for one that we do not know."""
    try:
        act, answer, *more = str(action.get("value", "")).split(" ")
        asker, message, *_ = [*more, "", ""]
        return Pressed(act=act, answer_id=UUID(hex=answer), asker_id=asker, message_id=message)
    except ValueError:
        return None


def buttons(
    response: AgentResponse,
    question: IncomingQuestion,
    *,
    has_staff: bool,
    native: bool,
) -> list[Block]:
    """The blocks below an answer; none below greetings and what was not answered for an error."""
    presses = offered(response, private=question.private, has_staff=has_staff)
    values = _Values(response, question)
    blocks = [rating(values)] if native and set(RATINGS) <= set(presses) else []
    plain = [press for press in presses if not (blocks and press in RATINGS)]
    elements = [values.button(press, LABELS[press]) for press in plain]
    if question.private and presses:
        elements += [values.button(act, label) for act, label in PRIVATE_LABELS.items()]
    return [*blocks, *([{"type": "actions", "elements": elements}] if elements else [])]


@dataclass(frozen=True, slots=True)
class _Values:
    response: AgentResponse
    question: IncomingQuestion

    def of(self, act: str) -> str:
        question = self.question
        return f"{act} {self.response.answer_id.hex} {question.asker_id} {question.message_id}"

    def button(self, act: str, label: str) -> Block:
        made = button(act, label, self.of(act))
        return made | ({"style": "danger"} if act == Press.DELETE else {})


def button(act: str, label: str, value: str) -> Block:
    return {
        "type": "button",
        "text": {"type": "plain_text", "text": label},
        "action_id": f"{ACTION}:{act}",
        "value": value,
    }


def rating(values: _Values) -> Block:
    """Slack's own element for what people think of an answer."""

    def side(press: Press) -> Block:
        label = LABELS[press]
        return {
            "text": {"type": "plain_text", "text": label},
            "accessibility_label": f"{label}: rate this answer",
            "value": values.of(press),
        }

    element = {
        "type": "feedback_buttons",
        "action_id": RATE,
        "positive_button": side(Press.HELPFUL),
        "negative_button": side(Press.NOT_HELPFUL),
    }
    return {"type": "context_actions", "elements": [element]}


def reason_form(answer_id: UUID) -> Block:
    """Asks why an answer did not help; it may be sent without a word."""
    return {
        "type": "modal",
        "callback_id": CLOSES["callback"],
        "private_metadata": answer_id.hex,
        "title": {"type": "plain_text", "text": "This did not help"},
        "submit": {"type": "plain_text", "text": "Send"},
        "close": {"type": "plain_text", "text": "Cancel"},
        "blocks": [
            {
                "type": "input",
                "block_id": CLOSES["block"],
                "optional": True,
                "label": {"type": "plain_text", "text": "What was wrong or missing?"},
                "element": {
                    "type": "plain_text_input",
                    "action_id": CLOSES["field"],
                    "multiline": True,
                    "max_length": LONGEST_REASON,
                },
            }
        ],
    }


def reason_in(view: Mapping[str, Any]) -> tuple[UUID, str] | None:
    """The answer that a sent form belongs to, and what was written in it."""
    field = part(view, "state", "values", CLOSES["block"], CLOSES["field"])
    try:
        answer_id = UUID(hex=str(view.get("private_metadata")))
    except ValueError:
        return None
    return answer_id, str(field.get("value") or "").strip()[:LONGEST_REASON]


def without_choice(blocks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A private answer's blocks without the buttons that ask where it should stand."""
    return list(_without(blocks, {f"{ACTION}:{act}" for act in PRIVATE_LABELS}))


def _without(
    blocks: Sequence[Mapping[str, Any]], action_ids: set[str]
) -> Iterator[Mapping[str, Any]]:
    for block in blocks:
        if block.get("type") != "actions":
            yield block
            continue
        left = [e for e in block["elements"] if e.get("action_id") not in action_ids]
        if left:
            yield {**block, "elements": left}
