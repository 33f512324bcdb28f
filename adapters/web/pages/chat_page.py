"""The chat page and its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import HTMLResponse, RedirectResponse, Response

from adapters.web.config import Scope, WebConfig
from adapters.web.documents.bodies import uuid_of
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import not_found
from adapters.web.pages.lesson_page import lesson_html
from adapters.web.pages.templates import NOTHING, Html, fill, joined, page
from adapters.web.pages.views import Passages, Ratings, answer_html, exchange_html, threads_html
from adapters.web.parts import WebParts
from adapters.web.routes.reading import Reading
from rag_core.agent.answer import AgentResponse
from rag_core.books.book import BookIds
from rag_core.conversation.key import LOCAL_TENANT, ConversationKey

LISTED = 50
SHOWN = 100


class PageRoutes:
    """Server-rendered pages; a little script asks for their pieces."""

    def __init__(self, parts: WebParts, config: WebConfig) -> None:
        self._parts = parts
        self._may_sign_out = not config.open_loopback
        self._drops = config.uploads is not None
        self._reading = Reading(books=parts.books, library=parts.library)

    def router(self) -> APIRouter:
        router = APIRouter(default_response_class=HTMLResponse)
        router.add_api_route("/", self.chat, methods=["GET"])
        router.add_api_route("/page/threads", self.threads, methods=["GET"])
        router.add_api_route("/page/answers/{answer_id}", self.answer, methods=["GET"])
        router.add_api_route("/page/earlier/{answer_id}", self.earlier, methods=["GET"])
        router.add_api_route("/read/{parent_doc_id}", self.read, methods=["GET"])
        return router

    async def chat(self, caller: CallerOf, thread: str = "") -> Response:
        key = await self._thread(caller, uuid_of(thread))
        exchanges = await self._exchanges(caller, key) if key else NOTHING
        books = await self._read_by_default(caller)
        return HTMLResponse(
            page(
                "chat",
                title="Footnote",
                csrf=caller.csrf_token,
                thread=key.thread_id if key and exchanges else "",
                threads=await self._listed(caller, key.thread_id if key else ""),
                exchanges=exchanges,
                welcome=NOTHING if exchanges else await self._welcome(caller, books),
                modules=await self._modules(caller, books),
                admin=fill("admin-link") if caller.scope >= Scope.ADMIN else NOTHING,
                sign_out=fill("sign-out") if self._may_sign_out else NOTHING,
                waiting=fill("waiting"),
                exchange=fill("exchange", message_id="", question="", answer=fill("waiting")),
            )
        )

    async def threads(self, caller: CallerOf, thread: str = "") -> Response:
        return HTMLResponse(await self._listed(caller, thread))

    async def answer(self, answer_id: str, caller: CallerOf) -> Response:
        known = uuid_of(answer_id)
        found = await self._parts.answers.answer(known) if known else None
        if found is None or not caller.owns(found[1]):
            raise not_found("answer")
        passages = await self._passages(caller, [found[0]])
        ratings = await self._ratings(caller, [found[0]])
        return HTMLResponse(answer_html(found[0], passages, ratings))

    async def earlier(self, answer_id: str, caller: CallerOf) -> Response:
        """The way to the thread in which the same was asked before, as long as it is there."""
        known = uuid_of(answer_id)
        found = await self._parts.answers.answer(known) if known else None
        before = found[0].asked_before if found and caller.owns(found[1]) else None
        if before is None or not caller.owns(before.key):
            raise not_found("earlier thread")
        return RedirectResponse(f"/?thread={before.key.thread_id}", status_code=303)

    async def read(
        self, parent_doc_id: str, caller: CallerOf, passage: str = "", quote: str = ""
    ) -> Response:
        chunks = await self._reading.lesson(self._parts.retriever, parent_doc_id, caller)
        return HTMLResponse(lesson_html(chunks, passage=passage, quote=quote))

    async def _thread(self, caller: Caller, session_id: UUID | None) -> ConversationKey | None:
        """The caller's thread of this session, which may not be there yet."""
        if session_id is None:
            return None
        state = await self._parts.conversations.find(session_id)
        if state is None:
            return caller.key(session_id)
        return state.key if caller.owns_thread(state) else None

    async def _exchanges(self, caller: Caller, key: ConversationKey) -> Html:
        asked = await self._parts.answers.asked_in(key, limit=SHOWN)
        answers = [question.response for question in asked if question.response]
        passages = await self._passages(caller, answers)
        ratings = await self._ratings(caller, answers)
        return joined([exchange_html(question, passages, ratings) for question in asked])

    async def _ratings(self, caller: Caller, answers: Sequence[AgentResponse]) -> Ratings:
        rated = {
            answer.answer_id: await self._parts.feedback.rated(
                answer_id=answer.answer_id, asker_id=caller.owner
            )
            for answer in answers
        }
        return {name: helpful for name, helpful in rated.items() if helpful is not None}

    async def _listed(self, caller: Caller, current: str) -> Html:
        states = await self._parts.conversations.recent(
            platform=caller.platform, tenant=LOCAL_TENANT, channel_id=caller.owner, limit=LISTED
        )
        return threads_html(states, current)

    async def _passages(self, caller: Caller, responses: Sequence[AgentResponse]) -> Passages:
        """The passages behind footnotes and suggestions, as they stand in the documents now."""
        chunk_ids = sorted(
            {named.chunk_id for answer in responses for named in answer.places if named.chunk_id}
        )
        books = await self._reading.readable(caller)
        if not chunk_ids or books is None:
            return {}
        return await self._parts.passages.chunks(chunk_ids, books=books)

    async def _read_by_default(self, caller: Caller) -> BookIds | None:
        """The books that a question of this page is answered from."""
        return await self._reading.named(caller, None) or await self._reading.default(caller)

    async def _modules(self, caller: Caller, books: BookIds | None) -> Html:
        if books is None:
            return NOTHING
        filters = await self._reading.filters(caller)
        modules = await self._parts.retriever.modules(books=books, filters=filters)
        if not modules:
            return NOTHING
        return fill(
            "modules", options=joined([fill("module", module=module) for module in modules])
        )

    async def _welcome(self, caller: Caller, books: BookIds | None) -> Html:
        """For a first visit: what to ask, or what must be done before anything can be asked."""
        return fill(
            "welcome", offer=await (self._starters(books) if books else self._no_book(caller))
        )

    async def _starters(self, books: BookIds) -> Html:
        questions = await self._parts.starters.of(books)
        if not questions:
            return NOTHING
        return fill(
            "starters",
            starters=joined([fill("starter", question=question) for question in questions]),
        )

    async def _no_book(self, caller: Caller) -> Html:
        if not await self._parts.books.all():
            may_drop = self._drops and caller.scope >= Scope.ADMIN
            return fill("no-book", drop=fill("no-book-drop") if may_drop else NOTHING)
        readable = await self._reading.readable(caller)
        return fill("which-book", books=f" ({', '.join(readable)})" if readable else "")
