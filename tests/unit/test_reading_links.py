"""Footnotes of documents without an address, on chat platforms and on the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from bot.reading_links import LinkedAgent
from rag_core.agent.answer import AgentResponse, Citation, Suggestion
from rag_core.agent.manner import Manner
from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform
from rag_core.conversation.message import Message
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.errors import UpstreamUnavailable
from tests.builders import NOON, a_key, a_response
from tests.fakes.answers import a_refusal
from tests.fakes.web_house import MemoryIndex
from tests.fakes.web_values import a_citation, a_result

BOOKS = BookIds(["course"])
OUTSIDE = "https://docs.example/limits#daily"


@dataclass(frozen=True)
class Answered:
    """What the agent hands back."""

    response: AgentResponse
    turn: Turn | None = None


class Saying:
    """An agent that answers this."""

    def __init__(self, response: AgentResponse) -> None:
        self.response = response

    async def answer(self, question: Question, **bound: Any) -> Answered:
        return Answered(self.response)


class Unreachable(MemoryIndex):
    """An index that does not answer."""

    async def chunks(self, chunk_ids: Any, *, books: BookIds) -> Any:
        raise UpstreamUnavailable("qdrant")


async def citations(
    platform: Platform, *cited: Citation, index: MemoryIndex | None = None
) -> tuple[Citation, ...]:
    return (await linked(platform, a_response(citations=cited), index)).citations


async def linked(
    platform: Platform, response: AgentResponse, index: MemoryIndex | None = None
) -> AgentResponse:
    agent = LinkedAgent(
        Saying(response),
        passages=index or MemoryIndex(a_result(0)),
        public_url="https://ask.example/",
    )
    state = ConversationState(
        session_id=uuid4(),
        session_number=1,
        key=a_key(platform=platform),
        messages=(Message.system("", at=NOON),),
        model="m",
        turn_count=0,
        created_at=NOON,
        updated_at=NOON,
    )
    answered = await agent.answer(
        Question(message="How often?"),
        state=state,
        books=BOOKS,
        audience=None,
        progress=None,  # type: ignore[arg-type]
        locale="en",
        manner=Manner(),
    )
    return answered.response


@pytest.mark.parametrize("platform", [Platform.DISCORD, Platform.SLACK])
async def test_a_bare_footnote_leads_to_the_reading_page(platform: Platform) -> None:
    (note,) = await citations(platform, a_citation(quote="at most 100 requests " * 20))
    link = urlsplit(note.page_url or "")
    assert (link.scheme, link.netloc, link.path) == ("https", "ask.example", "/read/lesson-1")
    assert parse_qs(link.query)["passage"] == ["lesson-1-0"]
    assert parse_qs(link.query)["quote"][0].startswith("at most 100 requests")
    assert link.fragment == "passage-lesson-1-0"
    assert len(note.page_url or "") < 400


async def test_a_section_that_is_near_leads_there_too() -> None:
    near = Suggestion(page_title="Limits", section_heading="Daily", chunk_id="lesson-1-0")
    addressed = replace(near, page_url=OUTSIDE)
    refusal = a_refusal(suggestions=(near, addressed))

    (bare, own) = (await linked(Platform.SLACK, refusal)).suggestions

    place = "https://ask.example/read/lesson-1?passage=lesson-1-0#passage-lesson-1-0"
    assert bare.page_url == place
    assert own.page_url == OUTSIDE
    assert (await linked(Platform.WEB, refusal)).suggestions[0].page_url is None


async def test_an_address_of_its_own_is_kept() -> None:
    own = a_citation(page_url=OUTSIDE)
    assert await citations(Platform.SLACK, own) == (own,)


async def test_the_page_makes_its_own_links() -> None:
    assert (await citations(Platform.WEB, a_citation()))[0].page_url is None


async def test_a_passage_that_is_gone_or_out_of_reach_costs_the_link_only() -> None:
    gone = replace(a_citation(), chunk_id="gone")
    assert await citations(Platform.SLACK, gone) == (gone,)
    assert await citations(Platform.SLACK, a_citation(), index=Unreachable()) == (a_citation(),)
