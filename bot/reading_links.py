"""Footnotes without an address of their own lead to the reading page, on chat platforms too."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from adapters.web.pages.links import reading_link
from adapters.web.parts import FindsPassages
from rag_core.agent.answer import AgentResponse, Citation
from rag_core.agent.manner import Manner
from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.answering import AgentAnswer, AnsweringAgent
from rag_core.desk.progress import Progress
from rag_core.errors import FootnoteError
from rag_core.retrieval.results import SearchResult

log = logging.getLogger(__name__)

OWN_PAGE = frozenset({Platform.WEB, Platform.CLI})
"""There the page itself makes the link, or nobody follows one."""
MAX_QUOTE = 80
"""Of the quoted words, as much as a chat message should carry in a link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What the agent handed back, with links."""

    response: AgentResponse
    turn: Turn | None


class LinkedAgent:
    """An agent whose footnotes can be followed from a chat platform."""

    def __init__(self, agent: AnsweringAgent, *, passages: FindsPassages, public_url: str) -> None:
        self._agent = agent
        self._passages = passages
        self._address = public_url.rstrip("/")

    async def answer(
        self,
        question: Question,
        *,
        state: ConversationState,
        books: BookIds,
        progress: Progress,
        locale: str,
        manner: Manner,
    ) -> AgentAnswer:
        answered = await self._agent.answer(
            question, state=state, books=books, progress=progress, locale=locale, manner=manner
        )
        if state.key.platform in OWN_PAGE:
            return answered
        response = await self._linked(answered.response, books)
        return Linked(response=response, turn=answered.turn)

    async def _linked(self, response: AgentResponse, books: BookIds) -> AgentResponse:
        bare = [note.chunk_id for note in response.citations if not note.page_url]
        if not bare:
            return response
        try:
            found = await self._passages.chunks(bare, books=books)
        except FootnoteError as error:  # a footnote without a link is a footnote, too
            log.warning("footnotes not linked", extra={"cause": type(error).__name__})
            return response
        notes = tuple(
            self._with_place(note, found.get(note.chunk_id)) for note in response.citations
        )
        return replace(response, citations=notes)

    def _with_place(self, note: Citation, passage: SearchResult | None) -> Citation:
        if note.page_url or passage is None:
            return note
        quoted = note.quote[:MAX_QUOTE]
        link = reading_link(passage.parent_doc_id, passage.chunk_id, quoted)
        return replace(note, page_url=f"{self._address}{link}")
