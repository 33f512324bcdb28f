"""Who may come in at the web door, how far, and how often."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Send
from starlette.types import Scope as Scope_

from adapters.web.app import create_app
from adapters.web.config import Scope, WebConfig, parse_api_keys
from adapters.web.guarding.caller import PRIVATE, Caller
from adapters.web.guarding.rate import SlidingLimit
from adapters.web.guarding.rules import SCOPES
from rag_core.books.policy import ChannelPolicy
from rag_core.conversation.key import Platform
from rag_core.errors import ConfigurationError
from tests.fakes.web_house import House, MemoryIndex, OneDefault
from tests.fakes.web_values import START, a_result
from tests.fakes.web_visit import KEYS, a_config, at_the_private_door, visiting, with_keys

ASK = {"message": "How often may a key ask?"}
SEARCH = {"text": "limits requests"}
FEEDBACK = {"answer_id": "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11", "rating": "helpful"}

ROUTES = [
    ("POST", "/chat/run", ASK, Scope.ASK),
    ("POST", "/chat/stream", ASK, Scope.ASK),
    ("GET", "/threads", None, Scope.ASK),
    ("GET", "/threads/unknown", None, Scope.ASK),
    ("DELETE", "/threads/unknown", None, Scope.ASK),
    ("POST", "/feedback", FEEDBACK, Scope.ASK),
    ("GET", "/openapi.json", None, Scope.ASK),
    ("GET", "/", None, Scope.ASK),
    ("GET", "/read/lesson-1", None, Scope.ASK),
    ("GET", "/page/threads", None, Scope.ASK),
    ("POST", "/search", SEARCH, Scope.READ),
    ("GET", "/lessons/lesson-1", None, Scope.READ),
    ("GET", "/books", None, Scope.READ),
    ("GET", "/jobs", None, Scope.ADMIN),
    ("POST", "/jobs", {"book_id": "course", "urls": ["https://docs.example"]}, Scope.ADMIN),
    ("GET", "/jobs/unknown", None, Scope.ADMIN),
    ("DELETE", "/jobs/unknown", None, Scope.ADMIN),
    ("GET", "/metrics", None, Scope.ADMIN),
]
HOLDERS = {"ask-key-1": Scope.ASK, "read-key-1": Scope.READ, "house-key-1": Scope.ADMIN}


@pytest.mark.parametrize(("method", "path", "body", "needed"), ROUTES)
async def test_each_address_asks_for_its_scope(
    method: str, path: str, body: object, needed: Scope
) -> None:
    house, config = House(), with_keys()
    for key, scope in HOLDERS.items():
        async with visiting(house, config, key=key) as client:
            status = (await client.request(method, path, json=body)).status_code
        if scope < needed:
            assert status == 403
        else:
            assert status not in {401, 403, 405, 500}


@pytest.mark.parametrize(("method", "path", "body", "needed"), ROUTES)
@pytest.mark.parametrize(
    "authorization", [None, "Bearer wrong-key", "Bearer ", "Basic ask-key-1", "Bearer ask-key-1 x"]
)
async def test_with_keys_nobody_comes_in_without_one(
    method: str, path: str, body: object, needed: Scope, authorization: str | None
) -> None:
    async with visiting(House(), with_keys()) as client:
        headers = {"Authorization": authorization} if authorization else {}
        answer = await client.request(method, path, json=body, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["status"] == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_every_address_has_its_scope_written_down() -> None:
    app = create_app(House().parts(), WebConfig())
    paths = set(app.openapi()["paths"]) - {"/livez", "/readyz"}
    assert {path.split("/")[1] for path in paths} <= SCOPES.keys()


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
@pytest.mark.parametrize("config", [a_config(), with_keys()])
async def test_whoever_watches_the_process_needs_no_key(path: str, config: WebConfig) -> None:
    async with visiting(House(), config, address="192.0.2.7", host="elsewhere.example") as client:
        assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize("address", ["192.0.2.7", "10.0.0.1", "2001:db8::1", "", "unix"])
async def test_without_keys_only_this_machine_is_served(address: str) -> None:
    async with visiting(House(), address=address) as client:
        answers = [await client.get(path) for path in ("/", "/threads", "/static/chat.js", "/x")]
    assert {answer.status_code for answer in answers} == {403}


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
async def test_without_keys_this_machine_is_served(address: str) -> None:
    async with visiting(House(), address=address, host="localhost:8080") as client:
        assert (await client.get("/threads")).status_code == 200


async def test_a_key_reads_its_own_books_only() -> None:
    house, config = House(), with_keys()
    async with visiting(house, config, key="read-key-1") as client:
        assert [b["book_id"] for b in (await client.get("/books")).json()["books"]] == ["course"]
        refused = await client.post("/search", json=SEARCH | {"book_ids": ["staff"]})
        unknown = await client.post("/search", json=SEARCH | {"book_ids": ["no-such-book"]})
        asked = await client.post("/chat/run", json=ASK | {"book_ids": ["course", "staff"]})
        hidden = await client.get("/lessons/staff-1")
        read = await client.get("/read/staff-1")
    assert refused.status_code == unknown.status_code == asked.status_code == 404
    assert refused.json() == unknown.json()
    assert refused.json()["errors"][0]["field"] == "book_ids"
    assert hidden.status_code == read.status_code == 404
    async with visiting(house, config, key="staff-key-1") as client:
        assert [b["book_id"] for b in (await client.get("/books")).json()["books"]] == ["staff"]
        found = (await client.post("/search", json=SEARCH)).json()["results"]
        assert {result["book_id"] for result in found} == {"staff"}
        assert (await client.get("/lessons/staff-1")).status_code == 200


async def test_this_machine_reads_every_book_by_its_name() -> None:
    async with visiting(House()) as client:
        found = await client.post("/search", json=SEARCH | {"book_ids": ["staff", "course"]})
        default = await client.post("/search", json=SEARCH)
    assert {r["book_id"] for r in found.json()["results"]} == {"staff", "course"}
    assert {r["book_id"] for r in default.json()["results"]} == {"course"}


async def test_where_no_book_is_chosen_a_search_says_so() -> None:
    async with visiting(House(library=OneDefault(None))) as client:
        answer = await client.post("/search", json=SEARCH)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "book_ids"


async def test_a_thread_is_its_owners_alone() -> None:
    house, config = House(), with_keys()
    async with visiting(house, config, key="ask-key-1") as owner:
        answer = (await owner.post("/chat/run", json=ASK)).json()
    thread = f"/threads/{answer['session_id']}"
    rating = {"answer_id": answer["answer_id"], "rating": "helpful"}
    for stranger in ("ask-key-2", "admin-key-1"):
        async with visiting(house, config, key=stranger) as client:
            tries = [
                await client.get(thread),
                await client.delete(thread),
                await client.post("/chat/run", json=ASK | {"session_id": answer["session_id"]}),
                await client.post("/feedback", json=rating),
                await client.get(f"/page/answers/{answer['answer_id']}"),
            ]
            assert [t.status_code for t in tries] == [404] * len(tries)
            assert (await client.get("/threads")).json() == {"threads": []}
            assert (
                answer["answer"] not in (await client.get(f"/?thread={answer['session_id']}")).text
            )
    async with visiting(house, config, key="ask-key-1") as owner:
        assert (await owner.get(thread)).status_code == 200
        assert (await owner.post("/feedback", json=rating)).status_code == 204


async def test_the_command_lines_threads_are_not_the_pages() -> None:
    house = House()
    async with at_the_private_door(house) as terminal:
        session = (await terminal.post("/chat/run", json=ASK)).json()["session_id"]
        assert (await terminal.get(f"/threads/{session}")).status_code == 200
    async with visiting(house) as client:
        assert (await client.get(f"/threads/{session}")).status_code == 404


async def test_at_most_so_many_requests_in_any_stretch_of_time() -> None:
    house, config = House(), with_keys(requests_per_minute=3)
    async with visiting(house, config, key="ask-key-1") as client:
        passed = [(await client.get("/threads")).status_code for _ in range(3)]
        refused = await client.get("/threads")
        probe = await client.get("/livez")
        other = await client.get("/threads", headers={"Authorization": "Bearer ask-key-2"})
    assert passed == [200] * 3
    assert refused.status_code == 429
    assert refused.json()["status"] == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert [probe.status_code, other.status_code] == [200, 200]


async def test_this_machine_has_no_limit() -> None:
    async with visiting(House(), a_config(requests_per_minute=1)) as client:
        assert {(await client.get("/threads")).status_code for _ in range(5)} == {200}


def test_the_limit_slides_and_refused_requests_do_not_count() -> None:
    now = 0.0
    limit = SlidingLimit(requests=2, seconds=60.0, now=lambda: now)
    assert limit.wait_for("a") == 0
    now = 30.0
    assert limit.wait_for("a") == 0
    now = 59.0
    assert [limit.wait_for("a") for _ in range(5)] == [1] * 5
    now = 60.0
    assert limit.wait_for("a") == 0
    assert limit.wait_for("a") == 30
    assert limit.wait_for("b") == 0


def test_the_limit_forgets_who_has_not_asked_lately() -> None:
    now = 0.0
    limit = SlidingLimit(requests=2, seconds=60.0, now=lambda: now)
    for number in range(10_000):
        limit.wait_for(str(number))
    now = 61.0
    limit.wait_for("new")
    assert limit.known == 1


def test_keys_are_read_with_scope_and_books() -> None:
    keys = parse_api_keys(
        " plain-key , reader-1:read, boss-key:admin:course|staff ,asker-02::extra"
    )
    assert [(key.scope, key.books) for key in keys] == [
        (Scope.ASK, ()),
        (Scope.READ, ()),
        (Scope.ADMIN, ("course", "staff")),
        (Scope.ASK, ("extra",)),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (":admin", "visible ASCII"),
        ("key with space", "visible ASCII"),
        ("a-good-key:owner", "ask, read, admin"),
        ("a-good-key:read:Not A Book", "Not A Book"),
        ("a-good-key:read:book:more", "too many parts"),
        ("a-good-key,a-good-key:read", "twice"),
    ],
)
def test_a_wrong_key_is_explained_and_not_shown(text: str, fault: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_api_keys(text)
    sentence = str(refused.value)
    assert "FOOTNOTE_API_KEYS" in sentence
    assert fault in sentence
    assert "a-good-key" not in sentence


def test_all_wrong_keys_are_named_together() -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_api_keys(":ask,a-good-key,another-1:boss")
    assert len(str(refused.value).splitlines()) == 2


def test_no_rendering_shows_a_key() -> None:
    config = with_keys()
    for shown in (repr(config), str(config), repr(config.api_keys), repr(config.api_keys[0])):
        assert not any(entry.split(":")[0] in shown for entry in KEYS.split(","))
    owner = Caller(owner="x", scope=Scope.ASK)
    assert owner.platform is Platform.WEB
    assert PRIVATE.platform is Platform.CLI


async def other_platform(scope: Scope_, receive: Receive, send: Send) -> None:
    """Answers with the length of what it was sent."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await PlainTextResponse(str(size))(scope, receive, send)


@pytest.mark.parametrize("config", [a_config(), with_keys()])
async def test_another_platforms_door_guards_itself(config: WebConfig) -> None:
    parts = replace(House().parts(), mounts={"/slack/events": other_platform})
    transport = httpx.ASGITransport(app=create_app(parts, config), client=("192.0.2.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url="https://public.example") as client:
        sent = await client.post("/slack/events", content=b"x" * 100_000)
        beside = await client.post("/slack/events/x", content=b"x")
    assert (sent.status_code, sent.text) == (200, "100000")
    assert beside.status_code in {401, 403}


@pytest.mark.parametrize(
    ("key", "search"), [(None, True), ("read-key-1", False), ("admin-key-1", True)]
)
async def test_what_is_not_out_or_not_read_here_is_like_what_is_not_there(
    key: str | None, search: bool
) -> None:
    later = {"metadata": {"released_at": START + timedelta(days=1)}}
    house = House(
        index=MemoryIndex(
            a_result(text="An open lesson.", parent="open"),
            a_result(text="An unreleased lesson.", parent="later", **later),
            a_result(text="Another lesson.", parent="other", module="module-2"),
        )
    )
    house.library.policy = ChannelPolicy(modules=("module-1",))
    async with visiting(house, with_keys() if key else None, key=key) as client:
        shown = {
            (door, parent): (await client.get(f"/{door}/{parent}")).status_code
            for door in ("read", "lessons")
            for parent in ("open", "later", "other", "never")
        }
        unknown = (await client.get("/lessons/never")).json()
        hidden = (await client.get("/lessons/later")).json()
        found = (await client.post("/search", json={"text": "lesson"})).json()
    assert {place for place, status in shown.items() if status == 200} == {
        ("read", "open"),
        ("lessons", "open"),
    }
    assert set(shown.values()) == {200, 404}
    assert unknown == hidden
    assert (len(found["results"]) == 3) is search


async def test_the_private_door_shows_a_lesson_before_it_is_out() -> None:
    later = {"released_at": START + timedelta(days=1)}
    house = House(index=MemoryIndex(a_result(metadata=later)))
    async with at_the_private_door(house) as client:
        assert (await client.get("/lessons/lesson-1")).status_code == 200


@pytest.mark.parametrize("config", [a_config(), with_keys()])
async def test_slack_needs_no_key_and_is_told_where_nobody_listens_to_it(
    config: WebConfig,
) -> None:
    async with visiting(House(), config, address="203.0.113.9") as client:
        answer = await client.post("/slack/events", json={})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
