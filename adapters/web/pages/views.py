"""Threads, questions and answers as pieces of the chat page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from uuid import UUID

from markdown_it.token import Token

from adapters.web.pages.earlier import address_of
from adapters.web.pages.links import exact_place
from adapters.web.pages.markdown import (
    html_token,
    parsed,
    rendered,
    text_token,
    with_text,
)
from adapters.web.pages.marking import marked, with_marked_quotes
from adapters.web.pages.templates import NOTHING, Html, fill, joined
from rag_core.agent.answer import AgentResponse, Citation, Outcome, Suggestion
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.agent.phrases import ENGLISH
from rag_core.conversation.state import ConversationState
from rag_core.desk.asked import AskedQuestion
from rag_core.reading.quotations import quoted_sections, quotes_by_number
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.whereabouts import whereabouts

MARKER = re.compile(r"\s?\[(\d{1,3})\]")

Passages = Mapping[str, SearchResult]
"""Those that are still there, by chunk id."""

Ratings = Mapping[UUID, bool]
"""What the reader thought of the answers, by their ids."""

CONFIDENCE = {
    ConfidenceLevel.HIGH: "Well supported by the documents",
    ConfidenceLevel.MEDIUM: "Supported by the documents",
    ConfidenceLevel.LOW: "Weakly supported by the documents",
    ConfidenceLevel.INSUFFICIENT: "",
}


def threads_html(states: Sequence[ConversationState], current: str) -> Html:
    """The list at the left."""
    if not states:
        return fill("no-threads")
    return joined([thread_html(state, current) for state in states])


def thread_html(state: ConversationState, current: str) -> Html:
    thread_id = state.key.thread_id
    return fill(
        "thread",
        thread=thread_id,
        title=state.topic_summary or str(state.metadata.get("title", "")) or "A new thread",
        when=state.updated_at.isoformat(),
        day=state.updated_at.strftime("%d %b"),
        current=Html(' aria-current="page"') if thread_id == current else NOTHING,
    )


def exchange_html(asked: AskedQuestion, passages: Passages, ratings: Ratings) -> Html:
    """A question and its answer, or the place where its answer will stand."""
    # While a question is answered anew, the old answer is not the answer.
    response = asked.response if asked.state.is_final else None
    answer = answer_html(response, passages, ratings) if response else fill("waiting")
    return fill("exchange", message_id=asked.message_id, question=asked.message, answer=answer)


def answer_html(response: AgentResponse, passages: Passages, ratings: Ratings) -> Html:
    """An answer with its footnotes, or a refusal with what may help instead."""
    quotes = quoted_sections(response.answer)
    # Where sections are quoted that may not answer, the answer says so itself.
    is_low = response.outcome is Outcome.LOW_CONFIDENCE and not quotes
    return fill(
        "answer",
        answer_id=str(response.answer_id),
        kind=f"{response.outcome.value} quoted" if quotes else response.outcome.value,
        changed=fill("changed") if response.source_changed else NOTHING,
        caution=fill("caution") if is_low else NOTHING,
        prose=prose_html(response),
        notes=notes_html(response, passages),
        nearby=nearby_html(response.suggestions, passages),
        earlier=earlier_html(response),
        bar=bar_html(response, ratings.get(response.answer_id), quotes=quotes),
    )


def prose_html(response: AgentResponse) -> Html:
    """The answer's words, each marker a link to its footnote, and quoted words marked."""
    numbers = {citation.number for citation in response.citations}

    def with_markers(text: str) -> list[Token]:
        pieces: list[Token] = []
        position = 0
        for found in MARKER.finditer(text):
            if int(found[1]) in numbers:
                pieces.append(text_token(text[position : found.start()]))
                pieces.append(html_token(marker_html(response, found[1])))
                position = found.end()
        return [*pieces, text_token(text[position:])]

    tokens = with_marked_quotes(parsed(response.answer), quotes_by_number(response))
    return rendered(with_text(tokens, with_markers))


def marker_html(response: AgentResponse, number: str) -> Html:
    return Html(fill("marker", note=note_id(response, number), number=number).strip())


def note_id(response: AgentResponse, number: int | str) -> str:
    return f"note-{response.answer_id}-{number}"


def notes_html(response: AgentResponse, passages: Passages) -> Html:
    if not response.citations:
        return NOTHING
    notes = [note_html(response, note, passages.get(note.chunk_id)) for note in response.citations]
    return fill("notes", notes=joined(notes))


def note_html(response: AgentResponse, citation: Citation, passage: SearchResult | None) -> Html:
    """A footnote: its place in words, and folded below it the passage that was quoted."""
    address, outside = exact_place(citation, passage, quoted=citation.quote)
    text = passage.text if passage else citation.quote
    return fill(
        "note",
        note=note_id(response, citation.number),
        number=str(citation.number),
        title=citation.page_title or "Untitled page",
        section=section_html(citation.section_heading, citation.page_title),
        passage=marked(text, citation.quote, headings_below=3),
        link=link_html(address, outside),
    )


def section_html(heading: str, title: str) -> Html:
    return fill("section", heading=heading) if heading and heading != title else NOTHING


def link_html(address: str, outside: bool) -> Html:
    if not address:
        return NOTHING
    return fill("place-outside" if outside else "place", address=address)


def nearby_html(suggestions: Sequence[Suggestion], passages: Passages) -> Html:
    if not suggestions:
        return NOTHING
    places = [near_html(near, passages.get(near.chunk_id)) for near in suggestions]
    return fill("nearby", places=joined(places))


def earlier_html(response: AgentResponse) -> Html:
    """The thread in which the same was asked before."""
    before = response.asked_before
    if before is None:
        return NOTHING
    return fill("earlier", address=address_of(response), day=f"{before.asked_at:%d %b %Y}")


def near_html(near: Suggestion, passage: SearchResult | None) -> Html:
    words = whereabouts(near.page_title, near.section_heading)
    address, outside = exact_place(near, passage)
    if not address:
        return fill("near", words=words)
    return fill("near-outside" if outside else "near-place", address=address, words=words)


def bar_html(response: AgentResponse, helpful: bool | None, *, quotes: int = 0) -> Html:
    """What can be done with an answer; nobody rates an answer that was not given."""
    if response.outcome is Outcome.ERROR:
        return fill("retry")
    searched = response.retrieval_count > 0
    words = CONFIDENCE[response.confidence_level] if searched else ""
    if quotes:
        words = ENGLISH.quoted(quotes) if response.outcome is Outcome.COMPLETED else ""
    return fill(
        "bar",
        words=words,
        helpful=str(helpful is True).lower(),
        not_helpful=str(helpful is False).lower(),
    )
