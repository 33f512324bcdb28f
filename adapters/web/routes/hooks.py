"""`/hooks/sources/{book_id}`: a signed word that a book's sources have changed."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from adapters.web.documents.values import job_document
from adapters.web.guarding.problems import Problem
from rag_core.ingestion.job import IngestionJob
from rag_core.ports import TicketStore

PATH = "/hooks/sources/{book_id}"
SIGNATURE, TIMESTAMP = "x-footnote-signature", "x-footnote-timestamp"
WINDOW = 300
"""Seconds that a call may be old, or ahead of our clock."""
REMEMBERED = 10_000
"""Calls that are known not to be made twice; more in one window are refused."""


class ReadsSources(Protocol):
    """The timetable."""

    async def read(self, book_id: str) -> Sequence[IngestionJob]: ...


class Hooks:
    """Takes each signed call once and has the book's sources read again.

    While a secret is exchanged the new and the old one hold, separated by a comma."""

    def __init__(
        self,
        sources: ReadsSources,
        tickets: TicketStore,
        *,
        secret: str,
        clock: Callable[[], datetime],
    ) -> None:
        self._sources = sources
        self._tickets = tickets
        self._secrets = [each.strip().encode() for each in secret.split(",") if each.strip()]
        self._clock = clock

    def router(self) -> APIRouter:
        router = APIRouter()
        router.add_api_route(PATH, self.call, methods=["POST"], include_in_schema=False)
        return router

    async def call(self, book_id: str, request: Request) -> Response:
        sent = request.headers.get(TIMESTAMP, "")
        body = await request.body()
        given = request.headers.get(SIGNATURE, "").encode()
        digests = [
            signature(secret, sent=sent, book_id=book_id, body=body) for secret in self._secrets
        ]
        fits = [hmac.compare_digest(f"sha256={digest}".encode(), given) for digest in digests]
        if not any(fits):
            raise Problem(401, f"{SIGNATURE} does not fit this call.")
        await self._take(digests[fits.index(True)], sent)
        jobs = await self._sources.read(book_id)
        if not jobs:
            raise Problem(404, "This book has no sources: footnote sources add names some.")
        return JSONResponse({"jobs": [job_document(job) for job in jobs]}, status_code=202)

    async def _take(self, digest: str, sent: str) -> None:
        """A call is taken once, and only while it is new: also across restarts."""
        now = self._clock()
        if not sent.isdecimal() or abs(now.timestamp() - int(sent[:15])) > WINDOW:
            raise Problem(401, f"{TIMESTAMP} must be the time of the call, in seconds since 1970.")
        if await self._tickets.used() >= REMEMBERED:
            raise Problem(429, "Too many calls.", headers={"Retry-After": str(WINDOW)})
        until = now + timedelta(seconds=2 * WINDOW)
        if not await self._tickets.use_once(f"hook {digest}", until=until):
            raise Problem(409, "This call was made before.")


def signature(secret: bytes, *, sent: str, book_id: str, body: bytes) -> str:
    """What a call is signed with: its time, its book and its body are all held fast."""
    return hmac.new(secret, f"{sent}.{book_id}.".encode() + body, hashlib.sha256).hexdigest()
