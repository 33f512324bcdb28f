"""A call that has a book read again is signed, new, and taken once."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI

from adapters.web.guarding.problems import add_problems
from adapters.web.routes.hooks import REMEMBERED, WINDOW, Hooks
from rag_core.ingestion.job import IngestionJob, IngestionMode, JobStatus
from tests.builders import NOON
from tests.fakes.tickets import MemoryTickets

SECRET, NEXT = "a secret that is long", "the one that follows it"
NOW = int(NOON.timestamp())


@dataclass
class Door:
    """The hooks, with a clock of their own; keeps which books were read."""

    web: httpx.AsyncClient
    now: datetime = NOON
    read_books: list[str] = field(default_factory=list)
    tickets: MemoryTickets = field(init=False)

    def __post_init__(self) -> None:
        self.tickets = MemoryTickets(lambda: self.now)

    def hooks(self) -> Hooks:
        """As each start of the process makes them: only the tickets are the same."""
        return Hooks(self, self.tickets, secret=f"{NEXT}, {SECRET}", clock=lambda: self.now)

    async def read(self, book_id: str) -> Sequence[IngestionJob]:
        self.read_books.append(book_id)
        job = IngestionJob(
            job_id=uuid4(),
            book_id=book_id,
            mode=IngestionMode.INCREMENTAL,
            status=JobStatus.QUEUED,
            started_at=self.now,
        )
        return [job] if book_id == "course" else []

    async def call(
        self,
        book: str = "course",
        *,
        sent: str = str(NOW),
        body: bytes = b"{}",
        secret: str = SECRET,
        **headers: str,
    ) -> int:
        signed = hmac.new(secret.encode(), f"{sent}.{book}.".encode() + body, hashlib.sha256)
        given = {
            "X-Footnote-Timestamp": sent,
            "X-Footnote-Signature": f"sha256={signed.hexdigest()}",
        }
        raw = {name: value.encode() for name, value in {**given, **headers}.items()}
        answer = await self.web.post(f"/hooks/sources/{book}", content=body, headers=raw)
        return answer.status_code


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    app = FastAPI()
    add_problems(app)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://footnote") as web:
        opened = Door(web)
        app.include_router(opened.hooks().router())
        yield opened


async def test_a_signed_call_is_taken_once(door: Door) -> None:
    assert [await door.call(), await door.call()] == [202, 409]
    assert await door.call(body=b"{ }") == 202
    assert door.read_books == ["course", "course"]


async def test_while_a_secret_is_exchanged_the_new_and_the_old_one_hold(door: Door) -> None:
    assert await door.call(secret=NEXT) == 202
    assert await door.call(secret=SECRET) == 202
    assert await door.call(secret=f"{NEXT}, {SECRET}", body=b"[]") == 401
    assert await door.call(secret="", body=b"[]") == 401


@pytest.mark.parametrize(
    "signature",
    ["", "sha256=", "sha256=" + "0" * 64, "sha1=" + "0" * 40, "sha256=" + "é" * 32, "x" * 5_000],
)
async def test_a_wrong_signature_is_refused(door: Door, signature: str) -> None:
    assert await door.call(**{"X-Footnote-Signature": signature}) == 401
    assert door.read_books == []


async def test_what_is_signed_cannot_be_used_for_anything_else(door: Door) -> None:
    assert await door.call(**{"X-Footnote-Timestamp": str(NOW + 1)}) == 401
    signed = hmac.new(SECRET.encode(), f"{NOW}.course.{{}}".encode(), hashlib.sha256).hexdigest()
    assert await door.call("other", **{"X-Footnote-Signature": f"sha256={signed}"}) == 401
    assert await door.call(body=b"[]", **{"X-Footnote-Signature": f"sha256={signed}"}) == 401


@pytest.mark.parametrize(
    ("seconds", "status"),
    [(-WINDOW - 1, 401), (-WINDOW, 202), (0, 202), (WINDOW, 202), (WINDOW + 1, 401)],
)
async def test_a_call_is_taken_while_it_is_new(door: Door, seconds: int, status: int) -> None:
    assert await door.call(sent=str(NOW + seconds)) == status


@pytest.mark.parametrize("sent", ["", "now", "-1", "1e9", "9" * 400, "١٢٣"])
async def test_a_time_that_is_none_is_refused(door: Door, sent: str) -> None:
    assert await door.call(sent=sent) == 401


async def test_a_call_is_remembered_as_long_as_it_could_be_made_again(door: Door) -> None:
    assert await door.call(sent=str(NOW + WINDOW)) == 202
    door.now += timedelta(seconds=2 * WINDOW)
    assert await door.call(sent=str(NOW + WINDOW)) == 409


async def test_too_many_calls_in_one_window_are_refused_until_it_is_over(door: Door) -> None:
    until = door.now + timedelta(seconds=WINDOW)
    for number in range(REMEMBERED):
        await door.tickets.use_once(f"hook {number}", until=until)
    assert await door.call() == 429
    door.now += timedelta(seconds=WINDOW + 1)
    assert await door.call(sent=str(NOW + WINDOW + 1)) == 202


async def test_a_book_without_sources_is_said_to_have_none(door: Door) -> None:
    assert await door.call("other") == 404
