"""The words of the documents that an answer rests on."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.discord.answering.footer import files_of
from adapters.discord.answering.links import place_link
from adapters.discord.wording import escaped
from adapters.excerpts import one_line
from rag_core.agent.answer import AgentResponse, Citation

MAX_QUOTE = 400
MAX_MESSAGE = 1_900
NO_EVIDENCE = "This answer quotes no passage."


def evidence(response: AgentResponse) -> Sequence[str]:
    """Every footnote with its quoted passage, as few messages as hold them."""
    files = files_of(response)
    messages: list[str] = []
    for citation in response.citations:
        file = files.get((citation.page_title, citation.section_heading), "")
        for block in blocks(citation, response.quotes(citation.number), file):
            if messages and len(messages[-1]) + 1 + len(block) <= MAX_MESSAGE:
                messages[-1] += f"\n{block}"
            else:
                messages.append(block)
    return messages or [NO_EVIDENCE]


def blocks(citation: Citation, quotes: Sequence[str], file: str) -> list[str]:
    """The place and its words; apart where all together are too long for a message."""
    place = place_link(citation.page_title, citation.section_heading, citation.page_url, file=file)
    lines = [f"[{citation.number}] {place}", *(f"> {quoted(quote)}" for quote in quotes)]
    whole = "\n".join(lines)
    return [whole] if len(whole) <= MAX_MESSAGE else lines


def quoted(text: str) -> str:
    return escaped(one_line(text, MAX_QUOTE))
