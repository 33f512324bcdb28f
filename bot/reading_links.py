"""What has no address of its own is read on the reading page, from chat platforms too."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TypeVar

from adapters.web.pages.links import reading_link
from adapters.web.parts import FindsPassages
from rag_core.agent.answer import AgentResponse, Citation, Suggestion
from rag_core.agent.manner import Manner
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.answering import AgentAnswer, AnsweringAgent
from rag_core.desk.progress import Progress
from rag_core.errors import FootnoteError
from rag_core.retrieval.results import SearchResult

log = logging.getLogger(__name__)

Named = TypeVar("Named", Citation, Suggestion)

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
        audience: Audience | None,
        progress: Progress,
        locale: str,
        manner: Manner,
    ) -> AgentAnswer:
        answered = await self._agent.answer(
            question,
            state=state,
            books=books,
            audience=audience,
            progress=progress,
            locale=locale,
            manner=manner,
        )
        if state.key.platform in OWN_PAGE:
            return answered
        response = await self._linked(answered.response, books)
        return Linked(response=response, turn=answered.turn)

    async def _linked(self, response: AgentResponse, books: BookIds) -> AgentResponse:
        bare = [
            named.chunk_id for named in response.places if named.chunk_id and not named.page_url
        ]
        if not bare:
            return response
        try:
            found = await self._passages.chunks(bare, books=books)
        except FootnoteError as error:  # a footnote without a link is a footnote, too
            log.warning("footnotes not linked", extra={"cause": type(error).__name__})
            return response
        notes = tuple(
            self._with_place(note, found.get(note.chunk_id), quoted=note.quote[:MAX_QUOTE])
            for note in response.citations
        )
        near = tuple(
            self._with_place(each, found.get(each.chunk_id)) for each in response.suggestions
        )
        return replace(response, citations=notes, suggestions=near)

    def _with_place(self, named: Named, passage: SearchResult | None, *, quoted: str = "") -> Named:
        if named.page_url or passage is None:
            return named
        link = reading_link(passage.parent_doc_id, passage.chunk_id, quoted)
        return replace(named, page_url=f"{self._address}{link}")
