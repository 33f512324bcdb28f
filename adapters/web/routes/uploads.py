"""`/uploads`: files that are dropped on the dashboard, and the job that reads them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from adapters.web.config import WebConfig
from adapters.web.documents.bodies import UploadsBody
from adapters.web.documents.fields import BookName
from adapters.web.documents.schemas import JobModel, problems
from adapters.web.documents.values import job_document
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import Problem, invalid, not_found, unavailable
from adapters.web.parts import WebParts
from adapters.web.routes.reading import Reading, no_such_book
from rag_core.ingestion.kinds import MEGABYTE, READABLE, kind_of
from rag_core.ingestion.pipeline import IngestionRequest

MAX_FILES = 5_000
MAX_BOOK_BYTES = 500 * MEGABYTE
MAX_DEPTH, MAX_PART = 8, 120
FORBIDDEN = frozenset('\\:*?"<>|')
KINDS = ", ".join(sorted(READABLE))
FILE = {
    "required": True,
    "description": "The file as it is.",
    "content": {
        "application/octet-stream": {
            "schema": {"type": "string", "format": "binary", "minLength": 1},
        }
    },
}


class UploadRoutes:
    """Takes files one by one into a folder of the book's own, then has the folder read."""

    def __init__(self, parts: WebParts, config: WebConfig) -> None:
        self._ingestion = parts.ingestion
        self._reading = Reading(books=parts.books, library=parts.library)
        self._folder = config.uploads
        self._seconds = config.upload_seconds

    def router(self) -> APIRouter:
        router = APIRouter(tags=["uploads"])
        router.add_api_route(
            "/uploads/{book_id}/{path:path}",
            self.take,
            methods=["PUT"],
            status_code=204,
            responses=problems(400, 401, 403, 404, 408, 413, 422, 429, 503),
            openapi_extra={"requestBody": FILE},
        )
        router.add_api_route(
            "/uploads/{book_id}",
            self.read,
            methods=["POST"],
            status_code=202,
            response_model=JobModel,
            responses=problems(401, 403, 404, 413, 422, 429, 503),
        )
        return router

    async def take(
        self, book_id: BookName, path: str, request: Request, caller: CallerOf
    ) -> Response:
        """Keep one file; the same name again replaces it."""
        place = await self._place(book_id, caller)
        target = place.joinpath(*checked_name(path))
        await asyncio.to_thread(make_room, place, target)
        try:
            async with asyncio.timeout(self._seconds):
                await keep(request, target, at_most=bound_of(target))
        except TimeoutError:
            raise Problem(408, f"The file did not arrive within {self._seconds:g} s.") from None
        except OSError as error:
            raise unavailable("The file could not be kept; is the disk full?") from error
        return Response(status_code=204)

    async def read(self, book_id: BookName, body: UploadsBody, caller: CallerOf) -> Response:
        """Read what was dropped; what is known and unchanged costs nothing."""
        place = await self._place(book_id, caller)
        if not place.is_dir():
            raise not_found("dropped file of this book")
        job = await self._ingestion.start(
            IngestionRequest(book_id=book_id, sources=(str(place),), title=body.title)
        )
        return JSONResponse(job_document(job), status_code=202)

    async def _place(self, book_id: str, caller: CallerOf) -> Path:
        if self._folder is None:
            raise not_found("place for dropped files")
        if not await self._reading.may_write(caller, book_id):
            raise no_such_book("book_id")
        return self._folder / book_id


def checked_name(path: str) -> tuple[str, ...]:
    """The steps of a path below the book's folder, each a plain name."""
    steps = tuple(path.split("/"))
    if len(steps) > MAX_DEPTH or not all(map(is_plain, steps)):
        raise invalid(
            "path",
            "path must be a file name, or folders and a file name, without special characters.",
            f"at most {MAX_DEPTH} steps of at most {MAX_PART} bytes",
        )
    if kind_of(steps[-1]) is None:
        raise invalid("path", f"{steps[-1]}: files of this kind are not read.", KINDS)
    return steps


def is_plain(step: str) -> bool:
    return (
        bool(step)
        and not step.startswith(".")
        and step.isprintable()
        and not FORBIDDEN & set(step)
        and len(step.encode("utf-8", "replace")) <= MAX_PART
    )


def make_room(place: Path, target: Path) -> None:
    """A folder for the file, as long as the book's folder is not full."""
    files = [file for file in place.rglob("*") if file.is_file() and file != target]
    if len(files) >= MAX_FILES or sum(f.stat().st_size for f in files) >= MAX_BOOK_BYTES:
        raise Problem(
            413,
            f"A book keeps at most {MAX_FILES:,} dropped files and {MAX_BOOK_BYTES // MEGABYTE} MB"
            " of them; have the others read from a folder.",
        )
    if any(parent.is_file() for parent in target.parents) or target.is_dir():
        raise invalid("path", "path names a folder in one place and a file in another.")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def bound_of(target: Path) -> int:
    kind = kind_of(target.name)
    return kind.max_bytes if kind else 0


async def keep(request: Request, target: Path, *, at_most: int) -> None:
    """The file whole, or nothing of it."""
    descriptor, draft = tempfile.mkstemp(prefix=".draft-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            size = 0
            async for chunk in request.stream():
                size += len(chunk)
                if size > at_most:
                    raise Problem(
                        413, f"{target.name}: at most {at_most // MEGABYTE} MB of this kind."
                    )
                await asyncio.to_thread(file.write, chunk)
        if not size:
            raise invalid("body", f"{target.name}: the file is empty.", "a file")
        await asyncio.to_thread(os.replace, draft, target)
    except ClientDisconnect:
        raise Problem(400, "The file did not arrive whole.") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
