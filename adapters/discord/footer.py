"""What stands below an answer: its footnotes, or the sections that may help instead."""

from __future__ import annotations

from collections.abc import Callable

from adapters.discord.links import place_line, place_link
from rag_core.agent.answer import AgentResponse

LOOK_HERE = "**Maybe look here**"
Place = Callable[..., str]


def footnotes(response: AgentResponse, place: Place = place_link) -> list[str]:
    """One line each, in the order of their numbers."""
    files = {(s.page_title, s.section): s.source_file for s in response.sources}
    lines = []
    for citation in response.citations:
        title, section = citation.page_title, citation.section_heading
        file = files.get((title, section), "")
        lines.append(f"[{citation.number}] {place(title, section, citation.page_url, file=file)}")
    return lines


def suggestions(response: AgentResponse, place: Place = place_link) -> list[str]:
    lines = [
        f"- {place(each.page_title, each.section_heading, each.page_url)}"
        for each in response.suggestions
    ]
    return [LOOK_HERE, *lines] if lines else []


def plain_footnotes(response: AgentResponse) -> list[str]:
    return footnotes(response, place_line)


def plain_suggestions(response: AgentResponse) -> list[str]:
    return suggestions(response, place_line)
