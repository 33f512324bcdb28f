"""`/jobs`: reading documents into a book."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from adapters.web.documents.bodies import JobBody, uuid_of
from adapters.web.documents.schemas import JobModel, JobsModel, problems
from adapters.web.documents.values import job_document
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import Problem, invalid, not_found
from adapters.web.parts import WebParts
from adapters.web.routes.reading import Reading, no_such_book
from rag_core.ingestion.job import IngestionJob
from rag_core.ingestion.pipeline import IngestionRequest

LISTED = 50


class JobRoutes:
    """Starts, shows and cancels runs over the books that the caller may read."""

    def __init__(self, parts: WebParts, reading: Reading, *, folders: Sequence[Path]) -> None:
        self._jobs = parts.jobs
        self._ingestion = parts.ingestion
        self._reading = reading
        self._folders = tuple(folders)

    def router(self) -> APIRouter:
        router = APIRouter(tags=["jobs"])
        known = problems(401, 403, 404, 429, 503)
        router.add_api_route(
            "/jobs",
            self.listed,
            methods=["GET"],
            response_model=JobsModel,
            responses=problems(401, 403, 429, 503),
        )
        router.add_api_route(
            "/jobs",
            self.start,
            methods=["POST"],
            status_code=202,
            response_model=JobModel,
            responses=problems(401, 403, 404, 413, 422, 429, 503),
        )
        router.add_api_route(
            "/jobs/{job_id}", self.one, methods=["GET"], response_model=JobModel, responses=known
        )
        router.add_api_route(
            "/jobs/{job_id}",
            self.cancel,
            methods=["DELETE"],
            status_code=202,
            response_model=JobModel,
            responses={**known, **problems(409)},
        )
        return router

    async def listed(self, caller: CallerOf) -> Response:
        jobs = await self._jobs.recent(limit=LISTED, books=caller.own_books)
        return JSONResponse({"jobs": [job_document(job) for job in jobs]})

    async def start(self, body: JobBody, caller: CallerOf) -> Response:
        if not await self._reading.may_write(caller, body.book_id):
            raise no_such_book("book_id")
        request = IngestionRequest(
            book_id=body.book_id,
            sources=await self._sources(body, caller),
            mode=body.ingestion_mode(),
            base_url=checked_url("base_url", body.base_url) if body.base_url else "",
            site=body.site,
            title=body.title,
            embed_anew=body.embed_anew,
        )
        job = await self._ingestion.start(request)
        return JSONResponse(job_document(job), status_code=202)

    async def one(self, job_id: str, caller: CallerOf) -> Response:
        return JSONResponse(job_document(await self._own(job_id, caller)))

    async def cancel(self, job_id: str, caller: CallerOf) -> Response:
        job = await self._own(job_id, caller)
        if job.status.is_over or not await self._ingestion.cancel(job.job_id):
            raise Problem(409, "This job is over; there is nothing to cancel.")
        return JSONResponse(job_document(await self._own(job_id, caller)), status_code=202)

    async def _own(self, text: str, caller: Caller) -> IngestionJob:
        job_id = uuid_of(text)
        job = await self._jobs.get(job_id) if job_id else None
        if job is None or not await self._reading.may_write(caller, job.book_id):
            raise not_found("job")
        return job

    async def _sources(self, body: JobBody, caller: Caller) -> tuple[str, ...]:
        if (body.paths is None) == (body.urls is None):
            raise invalid("paths", "Name either paths or urls.", "paths or urls, not both")
        if body.urls is not None:
            return tuple(checked_url("urls", url) for url in body.urls)
        folders = None if caller.private else self._folders
        return await asyncio.to_thread(checked_paths, body.paths or [], folders)


def checked_url(field: str, url: str) -> str:
    """An address that can be fetched; what is behind it is the ingestion's to judge."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        whole = False
    if not whole:
        sentence = f"{field} must be an http or https address, as in https://docs.example.com/."
        raise invalid(field, sentence, "http:// or https://")
    return url


def checked_paths(paths: Sequence[str], folders: Sequence[Path] | None) -> tuple[str, ...]:
    """The paths as they really lie, links followed; None: no folder holds the caller in."""
    real = [Path(path).resolve() for path in paths]
    for path in real:
        if folders is not None and not any(path.is_relative_to(f.resolve()) for f in folders):
            raise invalid(
                "paths",
                "paths must lie below a folder that the operator listed.",
                "paths below a listed folder" if folders else "none: no folder is listed",
            )
        if not path.exists():
            raise invalid("paths", "paths must name files or folders that are there.", "")
    return tuple(str(path) for path in real)
