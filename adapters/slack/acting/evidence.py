"""The words of the documents that an answer rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.graphemes import safe_cut
from adapters.slack.answering.markdown import escaped
from adapters.slack.answering.renderer import footnote, gathered
from rag_core.agent.answer import AgentResponse

MAX_QUOTE = 400
MAX_MESSAGE = 12_000
NO_EVIDENCE = "This answer quotes no passage."
HEADING = "What the documents say"


def evidence(response: AgentResponse) -> list[dict[str, Any]]:
    """Every footnote with its quoted passage, as blocks of one message."""
    notes = [f"{footnote(c)}\n> {quoted(c.quote)}" for c in response.citations]
    return sections(notes or [NO_EVIDENCE])


def quoted(text: str) -> str:
    line = " ".join(text.split())
    return escaped(line if len(line) <= MAX_QUOTE else line[: safe_cut(line, 0, MAX_QUOTE)] + "…")


def sections(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Lines of mrkdwn as the blocks of one message; what it cannot hold is left out."""
    blocks, size = [], 0
    for piece in gathered(lines):
        size += len(piece)
        if size > MAX_MESSAGE:
            break
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": piece}})
    return blocks
