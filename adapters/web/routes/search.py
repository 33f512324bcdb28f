"""`/search` and `/lessons`: the documents themselves."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from adapters.web.config import Scope
from adapters.web.documents.bodies import MAX_HTTP_LIMIT, SearchBody
from adapters.web.documents.schemas import LessonModel, SearchResponseModel, problems
from adapters.web.documents.values import lesson_document, search_document
from adapters.web.guarding.entrance import CallerOf
from adapters.web.parts import WebParts
from adapters.web.routes.reading import Reading
from rag_core.retrieval.query import MAX_LIMIT


class SearchRoutes:
    """Finds passages and shows lessons, in the books that the caller may read."""

    def __init__(self, parts: WebParts, reading: Reading) -> None:
        self._retriever = parts.retriever
        self._reading = reading

    def router(self) -> APIRouter:
        router = APIRouter(tags=["search"])
        router.add_api_route(
            "/search",
            self.search,
            methods=["POST"],
            response_model=SearchResponseModel,
            responses=problems(401, 403, 404, 413, 422, 429, 503),
        )
        router.add_api_route(
            "/lessons/{parent_doc_id}",
            self.lesson,
            methods=["GET"],
            response_model=LessonModel,
            responses=problems(401, 403, 404, 429, 503),
        )
        return router

    async def search(self, body: SearchBody, caller: CallerOf) -> Response:
        books = await self._reading.chosen(caller, body.book_ids)
        most = MAX_LIMIT if caller.private else MAX_HTTP_LIMIT
        query = body.query(books, caller.audience, most=most)
        if caller.scope < Scope.ADMIN:
            query = replace(query, filters=await self._reading.filters(caller, query.filters))
        found = await self._retriever.look_up(query)
        return JSONResponse(search_document(found))

    async def lesson(self, parent_doc_id: str, caller: CallerOf) -> Response:
        chunks = await self._reading.lesson(self._retriever, parent_doc_id, caller)
        return JSONResponse(lesson_document(parent_doc_id, chunks))
