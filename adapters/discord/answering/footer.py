"""What stands below an answer: its footnotes, or the sections that may help instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from adapters.discord.answering.links import place_line, place_link
from adapters.discord.earlier import address_of
from adapters.phrases import common_phrases
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.desk.incoming import IncomingQuestion
from rag_core.reading.quotations import quoted_sections

Place = Callable[..., str]


def footnotes(response: AgentResponse, place: Place = place_link) -> list[str]:
    """One line each, in the order of their numbers."""
    files = files_of(response)
    lines = []
    for citation in response.citations:
        title, section = citation.page_title, citation.section_heading
        file = files.get((title, section), "")
        lines.append(f"[{citation.number}] {place(title, section, citation.page_url, file=file)}")
    return lines


def quoted_note(response: AgentResponse, question: IncomingQuestion) -> list[str]:
    """How many sections an answer was quoted from, where it has no words of its own."""
    sections = quoted_sections(response.answer)
    if not sections or response.outcome is not Outcome.COMPLETED:
        return []
    return [f"-# {common_phrases(question).quoted(sections)}"]


def files_of(response: AgentResponse) -> Mapping[tuple[str, str], str]:
    """The file of each section that an answer rests on."""
    return {(each.page_title, each.section): each.source_file for each in response.sources}


def suggestions(
    response: AgentResponse, question: IncomingQuestion, place: Place = place_link
) -> list[str]:
    lines = [
        f"- {place(each.page_title, each.section_heading, each.page_url)}"
        for each in response.suggestions
    ]
    return [f"**{common_phrases(question).suggested}**", *lines] if lines else []


def earlier(
    response: AgentResponse, question: IncomingQuestion, *, plain: bool = False
) -> list[str]:
    """The thread in which the same was asked before."""
    before = response.asked_before
    if before is None:
        return []
    day, address = f"{before.asked_at:%Y-%m-%d}", address_of(before)
    told = f"{day}: <{address}>" if plain else f"[{day}](<{address}>)"
    return [f"{common_phrases(question).asked_before} {told}"]


def plain_footer(response: AgentResponse, question: IncomingQuestion) -> list[list[str]]:
    """The same in plain words."""
    return [
        [*quoted_note(response, question), *footnotes(response, place_line)],
        suggestions(response, question, place_line),
        earlier(response, question, plain=True),
    ]
