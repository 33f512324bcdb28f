"""`/books`: the books that the caller may read."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from adapters.web.documents.schemas import BooksModel, problems
from adapters.web.documents.values import book_document
from adapters.web.guarding.entrance import CallerOf
from adapters.web.parts import WebParts
from adapters.web.routes.reading import Reading


class BookRoutes:
    """Lists books."""

    def __init__(self, parts: WebParts, reading: Reading) -> None:
        self._books = parts.books
        self._reading = reading

    def router(self) -> APIRouter:
        router = APIRouter(tags=["books"])
        router.add_api_route(
            "/books",
            self.listed,
            methods=["GET"],
            response_model=BooksModel,
            responses=problems(401, 403, 429, 503),
        )
        return router

    async def listed(self, caller: CallerOf) -> Response:
        readable = await self._reading.readable(caller) or ()
        books = [book for book in await self._books.all() if book.book_id in readable]
        return JSONResponse({"books": [book_document(book) for book in books]})
