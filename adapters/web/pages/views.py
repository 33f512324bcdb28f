"""Threads, questions and answers as pieces of the chat page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from rag_core.agent.checks.fragments import quoting_other
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
        removed=removed_html(response),
        nearby=nearby_html(response.suggestions, passages),
        earlier=earlier_html(response),
        bar=bar_html(response, ratings.get(response.answer_id), quotes=quotes),
    )


def prose_html(response: AgentResponse) -> Html:
    """The answer's words, each marker a link to its footnote, and quoted words marked."""
    numbers = {citation.number for citation in response.citations}
    marks = iter(response.marks)

    def with_markers(text: str) -> list[Token]:
        pieces: list[Token] = []
        position = 0
        for found in MARKER.finditer(text):
            if int(found[1]) in numbers:
                pieces.append(text_token(text[position : found.start()]))
                quote = next((mark.quote for mark in marks), "")
                pieces.append(html_token(marker_html(response, found[1], quote)))
                position = found.end()
        return [*pieces, text_token(text[position:])]

    tokens = with_marked_quotes(parsed(response.answer), quotes_by_number(response))
    return rendered(with_text(tokens, with_markers))


def marker_html(response: AgentResponse, number: str, quote: str) -> Html:
    """A marker, and which of the quotes of its footnote backs the sentence before it."""
    quotes = response.quotes(int(number))
    words = str(quotes.index(quote) if quote in quotes else 0)
    note = note_id(response, number)
    return Html(fill("marker", note=note, number=number, words=words).strip())


def note_id(response: AgentResponse, number: int | str) -> str:
    return f"note-{response.answer_id}-{number}"


def notes_html(response: AgentResponse, passages: Passages) -> Html:
    if not response.citations:
        return NOTHING
    notes = [note_html(response, note, passages.get(note.chunk_id)) for note in response.citations]
    return fill("notes", notes=joined(notes))


def note_html(response: AgentResponse, citation: Citation, passage: SearchResult | None) -> Html:
    """A footnote: its place in words, and folded below it the passage with the words that back
    the first of its sentences; the page shows those of another where its marker is chosen."""
    quotes = response.quotes(citation.number)
    shown = [quoted_html(citation, passage, quote, place) for place, quote in enumerate(quotes)]
    return fill(
        "note",
        note=note_id(response, citation.number),
        number=str(citation.number),
        title=citation.page_title or "Untitled page",
        section=section_html(citation.section_heading, citation.page_title),
        passages=joined(shown),
    )


def quoted_html(citation: Citation, passage: SearchResult | None, quote: str, place: int) -> Html:
    """A passage with these words marked, and the link that leads to them."""
    named = replace(citation, page_url=quoting_other(citation.page_url, quote))
    address, outside = exact_place(named, passage, quoted=quote)
    return fill(
        "quoted",
        words=str(place),
        hidden=Html(" hidden") if place else NOTHING,
        passage=marked(passage.text if passage else quote, quote, headings_below=3),
        link=link_html(address, outside),
    )


def removed_html(response: AgentResponse) -> Html:
    """What the documents do not back, folded away."""
    if not response.removed:
        return NOTHING
    claims = [
        fill("removed-claim", text=each.text, reason=each.reason) for each in response.removed
    ]
    return fill("removed", claims=joined(claims))


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
