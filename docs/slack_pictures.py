"""Draws docs/images/slack-*.svg from the very payloads that the Slack adapter posts."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any
from uuid import UUID

from adapters.slack.acting.commands import SEARCHING
from adapters.slack.acting.evidence import HEADING, evidence
from adapters.slack.answering.renderer import SlackRenderer
from rag_core.agent.answer import AgentResponse, Citation, Outcome, Suggestion
from rag_core.agent.checks.guard import guarded
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion

WIDTH, LEFT, COLUMNS, LINE = 720, 64, 88, 21
IMAGES = Path("docs/images")
LINK = re.compile(r"<(https?://[^|>]+)\|([^>]+)>")
STYLE = (
    "text{font:15px -apple-system,'Segoe UI',Lato,Helvetica,Arial,sans-serif;fill:#1d1c1d}"
    ".name{font-weight:700}.app{font-size:10px;fill:#616061}.link{fill:#1264a3}"
    ".b{font-weight:700}.i{font-style:italic}.button{font-size:13px;font-weight:600}"
    ".quote{fill:#616061}"
)
Block = Mapping[str, Any]

QUESTION = IncomingQuestion(
    key=ConversationKey(
        platform=Platform.SLACK, tenant=TenantId("T1"), channel_id="C1", thread_id="1.1"
    ),
    message_id="1.1",
    asker_id="U1",
    question=Question(message="How much vacation does somebody get in the first year?"),
    heard_at=datetime(2026, 1, 1, tzinfo=UTC),
    position="1.1",
)
ANSWER = AgentResponse(
    answer_id=UUID(int=1),
    answer=guarded(
        "Everybody gets 28 days a year [1]. In the first year it is a twelfth of that for each"
        " month worked, rounded up [1]. Days that are left in December move to March [2]."
    ),
    query=QUESTION.question.message,
    session_id=UUID(int=2),
    outcome=Outcome.COMPLETED,
    confidence=0.9,
    confidence_level=ConfidenceLevel.HIGH,
    model="quoting",
    created_at=QUESTION.heard_at,
    citations=(
        Citation(
            number=1, page_title="Vacation", section_heading="How many days", chunk_id="a",
            content_hash="a", page_url="https://docs.example/vacation#how-many-days",
            quote="Everybody gets 28 days a year. In the first year: a twelfth for each month.",
        ),
        Citation(
            number=2, page_title="Vacation", section_heading="What is left over", chunk_id="b",
            content_hash="b", page_url="https://docs.example/vacation#what-is-left-over",
            quote="Days that are left in December may be taken until the end of March.",
        ),
    ),
)  # fmt: skip
REFUSAL = replace(
    ANSWER,
    answer=guarded("The documents do not cover this question."),
    outcome=Outcome.NO_RESULTS,
    confidence=0.1,
    confidence_level=ConfidenceLevel.INSUFFICIENT,
    citations=(),
    suggestions=(
        Suggestion(
            page_title="Expenses",
            section_heading="Travel",
            page_url="https://docs.example/expenses#travel",
        ),
    ),
)


@dataclass
class Drawing:
    """One message as it grows downwards."""

    y: int = 46
    parts: tuple[str, ...] = ()

    def add(self, svg: str, height: int = 0) -> None:
        self.parts = (*self.parts, svg)
        self.y += height

    def text(self, line: str, style: str = "") -> None:
        self.add(f'<text x="{LEFT}" y="{self.y}" class="{style}">{line}</text>', LINE)

    def button(self, label: str, x: int, *, danger: bool) -> int:
        width, colour = 24 + 8 * len(label), "#e01e5a" if danger else "#868686"
        self.add(
            f'<rect x="{x}" y="{self.y - 16}" width="{width}" height="28" rx="4" fill="white"'
            f' stroke="{colour}"/><text x="{x + 12}" y="{self.y + 3}" class="button"'
            f' style="fill:{colour if danger else "#1d1c1d"}">{escape(label)}</text>'
        )
        return x + width + 8

    @property
    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.y}"'
            f' width="{WIDTH}"><style>{STYLE}</style><rect width="100%" height="100%" rx="8"'
            ' fill="white" stroke="#ddd"/><rect x="16" y="12" width="36" height="36" rx="6"'
            ' fill="#4a154b"/><text x="27" y="36" style="fill:white;font-weight:700">¹</text>'
            f'<text x="{LEFT}" y="26" class="name">footnote</text>'
            f'<text x="{LEFT + 72}" y="25" class="app">APP</text>'
        )
        return head + "".join(self.parts) + "</svg>\n"


def draw(blocks: list[Block], *, note: str = "") -> str:
    drawing = Drawing()
    if note:
        drawing.text(escape(note), "app")
    for block in blocks:
        if "elements" in block:
            row(drawing, block)
        else:
            content = block["text"]
            for line in lines_of(content if isinstance(content, str) else content["text"]):
                drawing.text(marked(line), "quote" if line.startswith("> ") else "")
            drawing.y += 6
    return drawing.svg


def row(drawing: Drawing, block: Block) -> None:
    """Buttons beside each other."""
    drawing.y += 8
    x = LEFT
    for element in block["elements"]:
        if element["type"] == "feedback_buttons":
            for side in ("positive_button", "negative_button"):
                x = drawing.button(element[side]["text"]["text"], x, danger=False)
        else:
            x = drawing.button(element["text"]["text"], x, danger="style" in element)
    drawing.y += 32


def lines_of(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from textwrap.wrap(line, COLUMNS + line.count("http") * 60) or [""]


def marked(line: str) -> str:
    """Links and bold as Slack shows them."""
    plain = escape(LINK.sub("\x01\\2\x02", line).replace("&gt;", ">").replace("> ", "▏ ", 1))
    shown = re.sub(r"\*\*?([^*]+)\*\*?", r'<tspan class="b">\1</tspan>', plain)
    return shown.replace("\x01", '<tspan class="link">').replace("\x02", "</tspan>")


def blocks_of(response: AgentResponse, question: IncomingQuestion) -> list[Block]:
    [payload] = SlackRenderer(has_staff=True).render(response, question)
    return list(json.loads(payload)["blocks"])


def pictures() -> dict[str, str]:
    return {
        "answer": draw(blocks_of(ANSWER, QUESTION)),
        "refusal": draw(blocks_of(REFUSAL, QUESTION)),
        "evidence": draw(evidence(ANSWER), note=f"Only visible to you · {HEADING}"),
        "private": draw(
            blocks_of(ANSWER, replace(QUESTION, private=True)),
            note=f"Only visible to you · /ask — {SEARCHING}",
        ),
    }


def main() -> None:
    for name, svg in pictures().items():
        (IMAGES / f"slack-{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
