"""The words of the documents that an answer rests on."""

from __future__ import annotations

from adapters.excerpts import one_line
from adapters.slack.answering.blocks import Block, sections
from adapters.slack.answering.markdown import escaped
from adapters.slack.answering.renderer import footnote
from rag_core.agent.answer import AgentResponse

MAX_QUOTE = 400
NO_EVIDENCE = "This answer quotes no passage."
HEADING = "What the documents say"


def evidence(response: AgentResponse) -> list[Block]:
    """Every footnote with its quoted passage, as blocks of one message."""
    notes = [
        "\n".join([footnote(c), *(f"> {quoted(quote)}" for quote in response.quotes(c.number))])
        for c in response.citations
    ]
    return sections(notes or [NO_EVIDENCE])


def quoted(text: str) -> str:
    return escaped(one_line(text, MAX_QUOTE))
