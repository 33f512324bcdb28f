"""Nobody comes in at the web door without the key, whichever way the request took."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.web_visit import a_config, every_route
from tests.flow.running_house import RunningHouse, footnote, running_house

MARK = "QZXVSECRET"
PAGE = f"# Loans\n\n## Books\n\nA book may be kept for four weeks, says {MARK}.\n"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
FORWARDING = {
    "Forwarded": "for=127.0.0.1;host=localhost",
    "Via": "1.1 proxy",
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-Host": "localhost",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Port": "443",
    "X-Forwarded-Server": "localhost",
    "X-Forwarded-User": "admin",
    "X-Real-IP": "127.0.0.1",
    "X-Client-IP": "127.0.0.1",
    "X-Cluster-Client-IP": "127.0.0.1",
    "X-Original-Host": "localhost",
    "X-Original-URL": "/livez",
    "True-Client-IP": "127.0.0.1",
    "CF-Connecting-IP": "127.0.0.1",
    "Fly-Client-IP": "127.0.0.1",
    "Fastly-Client-IP": "127.0.0.1",
}
NEEDS_NONE = ("/livez", "/readyz", "/sign-in", "/slack/", "/hooks/")
AT_ONCE = 40
OLD_SECRET = "a-key-of-an-older-version"


@dataclass(frozen=True)
class Sent:
    """One request of a stranger."""

    method: str
    path: str
    body: str = ""


@dataclass(frozen=True)
class Way:
    """How a stranger's requests reach the program."""

    name: str
    port: int
    host: str
    headers: Mapping[str, str] = field(default_factory=dict)
    version: str = "1.1"


@dataclass
class Stored:
    """What there is to read and to change, by its ids."""

    session: str
    answer: str
    gap: str
    job: str
    staff: str
    message: str

    def filled(self, path: str) -> str:
        names = {
            "session_id": self.session,
            "answer_id": self.staff if path.startswith("/staff-answers") else self.answer,
            "gap_id:uuid": self.gap,
            "job_id": self.job,
            "message_id": self.message,
            "book_id": "library",
            "parent_doc_id": "loans",
            "path:path": "evil.md",
        }
        for name, value in names.items():
            path = path.replace(f"{{{name}}}", value)
        assert "{" not in path, path
        return path


BODIES = {
    "/chat/run": {"message": f"Who is {MARK}?"},
    "/chat/stream": {"message": f"Who is {MARK}?"},
    "/page/stream": {"message": f"Who is {MARK}?"},
    "/search": {"text": MARK},
    "/jobs": {"book_id": "library", "urls": ["https://docs.example/"]},
    "/policies": {"platform": "slack", "tenant": "T1", "channel_id": "C1", "book_ids": ["library"]},
    "/uploads/library": {},
    "/uploads/library/evil.md": {},
    "/staff-answers": {"book_id": "library", "question": "Who?", "text": "Nobody at all does."},
}


def requests_to(stored: Stored, *, every_method: bool) -> Sequence[Sent]:
    """Every address with the methods that it takes, or with all there are."""
    sent = []
    for address, taken in every_route(a_config(uploads=Path("nowhere"))):
        path = stored.filled(address)
        body = json.dumps(BODIES.get(path, {"state": "planned", "message": "Who?"}))
        sent += [Sent(method, path, body) for method in (METHODS if every_method else taken)]
    assert len(sent) > 40
    return sent


async def answer_to(sent: Sent, way: Way) -> tuple[int, bytes]:
    """The status and all that came, over a connection of its own as a proxy makes it."""
    lines = [
        f"{sent.method} {sent.path} HTTP/{way.version}",
        f"Host: {way.host}",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(sent.body)}",
        *(f"{name}: {value}" for name, value in way.headers.items()),
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
    try:
        writer.write("\r\n".join([*lines, "", sent.body]).encode())
        async with asyncio.timeout(60):
            raw = await reader.read()
    finally:
        writer.close()
    return int(raw.split(b" ", 2)[1]), raw


@contextlib.asynccontextmanager
async def tcp_forward(port: int) -> AsyncIterator[int]:
    """A port that hands on every byte, as `socat`, `ssh -L` and a container's port do."""

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pipe(reader, onward[1]), pipe(onward[0], writer))

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


def old_cookie() -> str:
    """A cookie as an older version signed it with its key."""
    name = hashlib.sha256(b"footnote key:" + OLD_SECRET.encode()).hexdigest()[:32]
    sign = hmac.new(OLD_SECRET.encode(), b"session:0123", hashlib.sha256).hexdigest()
    return f"{name}.0123.{sign}"


async def signed_out_cookie(house: RunningHouse) -> str:
    answer = await house.web.get(house.link, headers={"Authorization": ""})
    cookie = answer.cookies["footnote_session"]
    del house.web.cookies["footnote_session"]
    headers = {"Authorization": "", "Cookie": f"footnote_session={cookie}"}
    page = (await house.web.get("/", headers=headers)).raise_for_status().text
    token = page.split('data-csrf="')[1].split('"')[0]
    left = await house.web.post("/sign-out", headers=headers | {"X-CSRF-Token": token})
    assert left.status_code == 204
    return cookie


def ways(port: int, forward: int, signed_out: str) -> Sequence[Way]:
    own = f"127.0.0.1:{port}"
    live = base64.urlsafe_b64encode(b"x" * 32).decode().rstrip("=")
    cookies = {"forged": live, "old": old_cookie(), "signed out": signed_out, "none": ""}
    return [
        Way("as nginx passes it on", port, own, version="1.0"),
        Way("as a page", port, own, {"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}),
        Way("a TCP forward", forward, own),
        Way("a TCP forward under its own name", forward, f"localhost:{forward}"),
        Way("a rebinding name", port, f"evil.example:{port}"),
        Way("a wrong key", port, own, {"Authorization": "Bearer " + "k" * 43}),
        Way("an empty key", port, own, {"Authorization": "Bearer "}),
        *(Way(name, port, own, {name: value}) for name, value in FORWARDING.items()),
        *(
            Way(f"cookie: {name}", port, own, {"Cookie": f"footnote_session={value}"})
            for name, value in cookies.items()
        ),
    ]


async def each_within(bound: int, calls: Sequence[Callable[[], Awaitable[None]]]) -> None:
    free = asyncio.Semaphore(bound)

    async def call(one: Callable[[], Awaitable[None]]) -> None:
        async with free:
            await one()

    async with asyncio.TaskGroup() as tasks:
        for one in calls:
            tasks.create_task(call(one))


def all_rows(data: Path) -> Mapping[str, list[tuple[object, ...]]]:
    """Everything in the database, and the names of all dropped files."""
    address = f"file:{data / 'footnote.db'}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        rows = {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in tables}
    return {**rows, "uploads": sorted(str(file) for file in (data / "uploads").rglob("*"))}


async def lived_in(house: RunningHouse) -> Stored:
    """Something of each kind that a stranger might read or change."""
    answered = await house.ask(message="How long may a book be kept?")
    refused = await house.ask(message=f"What is the wifi password of {MARK}?")
    assert refused["outcome"] == "no_results"
    (gap,) = (await house.web.get("/gaps")).json()["gaps"]
    job = (await house.web.get("/jobs")).json()["jobs"][0]
    draft = {
        "book_id": "library",
        "question": f"Who is {MARK}?",
        "text": "That is the name of a dog, and it stays outside of the house.",
        "author": "Ada",
    }
    staff = await house.web.post("/staff-answers", json=draft)
    assert staff.status_code == 201, staff.text
    place = {"platform": "slack", "tenant": "T9", "channel_id": MARK, "book_ids": ["library"]}
    assert (await house.web.put("/policies", json=place)).status_code == 204
    return Stored(
        session=answered["session_id"],
        answer=answered["answer_id"],
        gap=gap["gap_id"],
        job=job["job_id"],
        staff=staff.json()["id"],
        message="0" * 32,
    )


async def test_no_request_without_the_key_reads_or_changes_anything(tmp_path: Path) -> None:
    (tmp_path / "loans.md").write_text(PAGE, encoding="utf-8")
    await footnote("ingest", "loans.md", "--book", "library", folder=tmp_path)
    seen: Counter[int] = Counter()
    let_in: list[str] = []
    async with running_house(tmp_path) as house:
        stored = await lived_in(house)
        signed_out = await signed_out_cookie(house)
        port = house.web.base_url.port or 80
        before = all_rows(tmp_path / "data")
        async with tcp_forward(port) as forward:

            def trying(sent: Sent, way: Way) -> Callable[[], Awaitable[None]]:
                async def one() -> None:
                    status, raw = await answer_to(sent, way)
                    seen[status] += 1
                    is_open = sent.path.startswith(NEEDS_NONE) and status < 500
                    refused = status in {303, 401, 403, 404, 405, 429} or is_open
                    if not refused or MARK.encode() in raw or b"set-cookie" in raw.lower():
                        let_in.append(f"{way.name}: {sent.method} {sent.path}: {status}")

                return one

            tried = [
                trying(sent, way)
                for way in ways(port, forward, signed_out)
                for sent in requests_to(stored, every_method=way.version == "1.0")
            ]
            await each_within(AT_ONCE, tried)
        after = all_rows(tmp_path / "data")
        shown = [
            (await house.web.get(path)).text
            for path in ("/admin/answers", "/gaps", "/policies", "/staff-answers")
        ]
    print(f"{seen.total()} requests, {dict(seen)}")
    assert let_in == []
    assert seen.total() >= 1_000
    assert {name for name in before if before[name] != after[name]} == set()
    assert all(MARK in each for each in shown), "there was something to be read"
    assert not any(house.key in line for line in house.said), "no log holds the key"
