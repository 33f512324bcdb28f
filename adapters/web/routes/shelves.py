"""What the command line asks of the shelves through the private door: bindings, books, sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from adapters.web.documents.values import Document, plain
from rag_core.books.book import Book
from rag_core.books.policy import Place
from rag_core.books.source import BookSource
from rag_core.conversation.key import Platform

HIDDEN = frozenset({"every"})


class KeepsShelves(Protocol):
    """What only the owner of the data folder may change about the books."""

    async def bind(
        self, *, platform: Platform, channel_id: str, book_ids: Sequence[str], tenant: str | None
    ) -> Sequence[Place]: ...

    async def remove_book(self, book_id: str) -> Book: ...

    async def add_source(
        self, *, book_id: str, location: str, every: str, base_url: str, site: str
    ) -> BookSource: ...

    async def remove_source(self, source_id: UUID) -> BookSource: ...


class Wanted(BaseModel):
    """A body whose every field is known."""

    model_config = ConfigDict(extra="forbid")


class BindingBody(Wanted):
    """Which books a place is to read."""

    platform: Platform
    channel_id: Annotated[str, Field(min_length=1, max_length=200)]
    book_ids: list[str]
    tenant: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class SourceBody(Wanted):
    """Where a book is to be read from."""

    book_id: str
    location: Annotated[str, Field(min_length=1, max_length=4_096)]
    every: str = ""
    base_url: str = ""
    site: str = ""


def shelf_routes(shelves: KeepsShelves) -> APIRouter:
    router = APIRouter()

    async def bind(wanted: BindingBody) -> Response:
        places = await shelves.bind(**dict(wanted))
        bound = [place_document(place, wanted.book_ids) for place in places]
        return JSONResponse({"bindings": bound})

    async def remove_book(book_id: str) -> Response:
        book = await shelves.remove_book(book_id)
        return JSONResponse({"book_id": book.book_id, "files": book.files, "chunks": book.chunks})

    async def add_source(wanted: SourceBody) -> Response:
        return JSONResponse(
            source_document(await shelves.add_source(**dict(wanted))), status_code=201
        )

    async def remove_source(source_id: UUID) -> Response:
        return JSONResponse(source_document(await shelves.remove_source(source_id)))

    router.add_api_route("/shelves/bindings", bind, methods=["POST"])
    router.add_api_route("/shelves/books/{book_id}", remove_book, methods=["DELETE"])
    router.add_api_route("/shelves/sources", add_source, methods=["POST"])
    router.add_api_route("/shelves/sources/{source_id}", remove_source, methods=["DELETE"])
    return router


def place_document(place: Place, book_ids: Sequence[str]) -> Document:
    return {
        "platform": place.platform.value,
        "tenant": place.tenant,
        "channel_id": place.channel_id,
        "book_ids": list(book_ids),
    }


def source_document(source: BookSource) -> Document:
    """A source as `footnote sources --json` lists it."""
    fields = {
        name: plain(getattr(source, name))
        for name in BookSource.__dataclass_fields__
        if name not in HIDDEN
    }
    every = source.every
    return fields | {"every_seconds": int(every.total_seconds()) if every else None}
