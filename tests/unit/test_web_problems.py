"""Whatever is wrong with a request is told in one form, field by field."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from adapters.web.app import create_app
from adapters.web.guarding.problems import problem_of
from rag_core.errors import DeskFull
from tests.fakes.web_house import House
from tests.fakes.web_visit import LOCAL_KEY, a_config, visiting

CHAT_FAULTS = [
    ({}, "message"),
    ({"message": ""}, "message"),
    ({"message": " \n\t "}, "message"),
    ({"message": "\u200b\u200d"}, "message"),
    ({"message": "x" * 1001}, "message"),
    ({"message": 5}, "message"),
    ({"message": None}, "message"),
    ({"message": "a\u0000b"}, "message"),
    ({"message": "ok", "mesage": "x"}, "mesage"),
    ({"message": "ok", "released_at": "2026-01-01T00:00:00Z"}, "released_at"),
    ({"message": "ok", "top_k": 0}, "top_k"),
    ({"message": "ok", "top_k": 11}, "top_k"),
    ({"message": "ok", "top_k": "5"}, "top_k"),
    ({"message": "ok", "top_k": True}, "top_k"),
    ({"message": "ok", "similarity_threshold": 1.5}, "similarity_threshold"),
    ({"message": "ok", "session_id": "nope"}, "session_id"),
    ({"message": "ok", "session_id": "c232ab00-9414-11ec-b3c8-9f6bdeced846"}, "session_id"),
    ({"message": "ok", "book_ids": []}, "book_ids"),
    ({"message": "ok", "book_ids": "course"}, "book_ids"),
    ({"message": "ok", "book_ids": ["../etc"]}, "book_ids"),
    ({"message": "ok", "chapter_min": 21}, "chapter_min"),
    ({"message": "ok", "chapter_min": 5, "chapter_max": 4}, "chapter_min"),
    ({"message": "ok", "lesson": 16}, "lesson"),
    ({"message": "ok", "hardware_tier": 5}, "hardware_tier"),
    ({"message": "ok", "layer": "L9"}, "layer"),
    ({"message": "ok", "proficiency_levels": ["A1", "Z9"]}, "proficiency_levels"),
    ({"message": "half \ud800 a pair"}, "message"),
    ({"message": "ok", "module": "half \ud800 a pair"}, "module"),
    ({"message": "ok", "stream": "yes"}, "stream"),
    ({"message": "ok", "context": "a thread"}, "context"),
    ({"message": "ok", "context": [{"kind": "thread"}]}, "context"),
    ({"message": "ok", "context": [{"kind": "rumour", "text": "x"}]}, "context"),
    ({"message": "ok", "context": [{"kind": "thread", "text": "x", "by": "Ann"}]}, "context.0.by"),
    ({"message": "ok", "context": [{"kind": "thread", "text": " \n"}]}, "context"),
    ({"message": "ok", "context": [{"kind": "paste", "text": "x" * 10_001}] * 2}, "context"),
]


@pytest.mark.parametrize(("body", "field"), CHAT_FAULTS)
async def test_a_wrong_field_is_named_with_what_is_allowed(body: Any, field: str) -> None:
    house = House()
    async with visiting(house) as client:
        answer = await client.post(
            "/chat/run", content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == 422
    assert problem["title"]
    assert problem["detail"]
    (error,) = problem["errors"]
    assert error["field"] == field
    assert field in error["message"]
    assert error["allowed"]
    assert not house.ledger.entries


async def test_all_wrong_types_are_told_at_once() -> None:
    async with visiting(House()) as client:
        answer = await client.post("/chat/run", json={"message": 1, "top_k": "x", "foo": 1})
    assert {e["field"] for e in answer.json()["errors"]} == {"message", "top_k", "foo"}


async def test_an_unknown_field_is_told_with_those_that_are_known() -> None:
    async with visiting(House()) as client:
        answer = await client.post(
            "/feedback", json={"answer_id": "x", "rating": "helpful", "a": 1}
        )
    (error,) = answer.json()["errors"]
    assert (error["field"], error["allowed"]) == ("a", "answer_id, rating, reason")


async def test_an_entry_of_a_list_is_told_by_its_field_and_its_place() -> None:
    async with visiting(House()) as client:
        answer = await client.post("/chat/run", json={"message": "ok", "book_ids": ["course", 3]})
    (error,) = answer.json()["errors"]
    assert (error["field"], error["message"]) == ("book_ids", "book_ids.1 must be text.")


async def test_an_empty_list_is_refused_in_good_english() -> None:
    async with visiting(House()) as client:
        answer = await client.post("/chat/run", json={"message": "hello", "book_ids": []})
    assert answer.json()["detail"] == "book_ids must have at least 1 entry."


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        '{"message": "caf\u00e9 or tea"}'.encode("latin-1"),
        '{"message": "in another encoding"}'.encode("utf-16"),
        '{"message": "in another encoding"}'.encode("utf-32-be"),
        b"[" * 20_000,
        b'{"message": ' + b"9" * 5_000 + b"}",
        b'{"message": "\\ud800"}',
        b'{"\\ud800": 1, "message": "ok"}',
        b'{"message": "ok", "similarity_threshold": NaN}',
        b'{"message": "ok", "top_k": 1e400}',
    ],
)
async def test_a_body_that_is_no_question_is_refused_and_harms_nothing(body: bytes) -> None:
    house = House()
    async with visiting(house) as client:
        answer = await client.post(
            "/chat/run", content=body, headers={"Content-Type": "application/json"}
        )
    assert answer.status_code == 422
    assert json.loads(answer.text)["status"] == answer.status_code
    assert not house.ledger.entries


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/chat/run", 405),
        ("PUT", "/threads", 405),
        ("POST", "/livez", 405),
        ("GET", "/threads/not-an-id", 404),
        ("DELETE", "/threads/{5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11}", 404),
        ("GET", "/threads/5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11", 404),
        ("GET", "/jobs/not-an-id", 404),
        ("DELETE", "/jobs/5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11", 404),
        ("GET", "/lessons/unknown", 404),
        ("GET", "/lessons/" + "x" * 400, 404),
        ("GET", "/static/../app.py", 404),
        ("GET", "/static/%2e%2e/app.py", 404),
        ("GET", "/page/answers/5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11", 404),
        ("GET", "/docs", 404),
    ],
)
async def test_what_is_not_there_is_a_problem_too(method: str, path: str, status: int) -> None:
    async with visiting(House()) as client:
        answer = await client.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert answer.json()["detail"]


async def test_a_body_beyond_the_bound_is_refused_unread() -> None:
    async def endless() -> Any:
        for _ in range(1000):
            yield b"x" * 1024

    async with visiting(House()) as client:
        told = await client.post("/chat/run", content=b"x" * 270_000)
        untold = await client.post("/chat/run", content=endless())
    assert [told.status_code, untold.status_code] == [413, 413]
    assert told.headers["content-type"] == "application/problem+json"


async def test_a_body_that_does_not_come_is_given_up() -> None:
    app_messages: list[dict[str, Any]] = []

    async def never() -> Any:
        await asyncio.Event().wait()

    async def keep(message: dict[str, Any]) -> None:
        app_messages.append(message)

    app = create_app(House().parts(), a_config(body_seconds=0.05))
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/chat/run",
        "raw_path": b"/chat/run",
        "query_string": b"",
        "headers": [
            (b"host", b"localhost"),
            (b"content-length", b"10"),
            (b"authorization", f"Bearer {LOCAL_KEY}".encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8080),
        "scheme": "http",
        "http_version": "1.1",
        "asgi": {"version": "3.0"},
    }
    await app(scope, never, keep)  # type: ignore[arg-type]
    assert app_messages[0]["status"] == 408


async def test_every_answer_keeps_browsers_from_loading_or_running_anything_else() -> None:
    async with visiting(House()) as client:
        answers = [await client.get(path) for path in ("/", "/threads", "/nowhere", "/livez")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/jobs", "GET, HEAD, POST"),
        ("/threads/5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11", "GET, HEAD, DELETE"),
        ("/gaps/csv", "GET, HEAD"),
        ("/chat/run", "POST"),
    ],
)
async def test_a_method_that_is_not_taken_is_told_which_are(path: str, methods: str) -> None:
    async with visiting(House()) as client:
        answer = await client.options(path)
    assert (answer.status_code, answer.headers["allow"]) == (405, methods)


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/", "/threads", "/nowhere", "/chat/run"])
async def test_head_tells_of_an_address_what_get_does_without_the_body(path: str) -> None:
    """Monitors ask so whether the process is there."""
    async with visiting(House()) as client:
        head, get = await client.head(path), await client.get(path)
    assert head.status_code == get.status_code
    assert head.headers["content-type"] == get.headers["content-type"]
    assert head.content == b""


async def test_a_whole_number_may_be_written_with_a_fraction_of_nothing() -> None:
    async with visiting(House()) as client:
        taken = await client.post("/search", json={"text": "keys", "limit": 1.0, "lesson": 2.0})
        refused = await client.post("/search", json={"text": "keys", "limit": 1.5})
    assert taken.status_code == 200
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "limit"


@pytest.mark.parametrize("kind", ["", "application/x-www-form-urlencoded", "text/plain"])
async def test_a_body_that_is_not_said_to_be_json_is_told_which_header_to_send(kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    async with visiting(House()) as client:
        body = b'{"message": "How many a day?"}'
        answer = await client.post("/chat/run", content=body, headers=headers)
        listed = await client.post("/chat/run", json=["How many a day?"])
    assert answer.status_code == 422
    assert "Content-Type application/json" in answer.json()["detail"]
    assert "JSON object" in listed.json()["detail"]


def test_a_full_desk_is_told_as_such_and_not_as_a_database_that_is_away() -> None:
    problem = problem_of(DeskFull("Too many questions wait."))
    assert problem.status == 503
    assert problem.detail == "Too many questions wait."
