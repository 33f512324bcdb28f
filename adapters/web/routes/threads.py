"""`/threads`: the caller's own conversations."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from adapters.web.documents.bodies import uuid_of
from adapters.web.documents.schemas import ThreadModel, ThreadsModel, problems
from adapters.web.documents.values import thread_document, thread_summary
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import not_found
from adapters.web.parts import WebParts
from rag_core.conversation.key import LOCAL_TENANT
from rag_core.conversation.state import ConversationState

LISTED = 100


class ThreadRoutes:
    """Lists, shows and deletes threads; another's thread is like one that is not there."""

    def __init__(self, parts: WebParts) -> None:
        self._conversations = parts.conversations
        self._replies = parts.replies

    def router(self) -> APIRouter:
        router = APIRouter(tags=["threads"])
        known = problems(401, 403, 404, 429, 503)
        router.add_api_route(
            "/threads",
            self.listed,
            methods=["GET"],
            response_model=ThreadsModel,
            responses=problems(401, 403, 429, 503),
        )
        router.add_api_route(
            "/threads/{session_id}",
            self.one,
            methods=["GET"],
            response_model=ThreadModel,
            responses=known,
        )
        router.add_api_route(
            "/threads/{session_id}",
            self.delete,
            methods=["DELETE"],
            status_code=204,
            response_class=Response,
            responses=known,
        )
        return router

    async def listed(self, caller: CallerOf) -> Response:
        states = await self._conversations.recent(
            platform=caller.platform,
            tenant=LOCAL_TENANT,
            channel_id=caller.owner,
            limit=LISTED,
        )
        return JSONResponse({"threads": [thread_summary(state) for state in states]})

    async def one(self, session_id: str, caller: CallerOf) -> Response:
        """An earlier session of a thread stays readable under its own id."""
        own = await self._own(session_id, caller)
        state = own if str(own.session_id) == session_id else await self._earlier(session_id)
        return JSONResponse(thread_document(state))

    async def delete(self, session_id: str, caller: CallerOf) -> Response:
        state = await self._own(session_id, caller)
        await self._conversations.delete(state.key)
        self._replies.forget(state.key)
        return Response(status_code=204)

    async def _earlier(self, text: str) -> ConversationState:
        session_id = uuid_of(text)
        state = await self._conversations.read(session_id) if session_id else None
        if state is None:  # it was deleted at this very moment
            raise not_found("thread")
        return state

    async def _own(self, text: str, caller: Caller) -> ConversationState:
        session_id = uuid_of(text)
        state = await self._conversations.find(session_id) if session_id else None
        if state is None or not caller.owns_thread(state):
            raise not_found("thread")
        return state
