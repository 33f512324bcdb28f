"""Hostile requests over a real socket: refused as what they are, while others are served."""

from __future__ import annotations

import asyncio
import json
import os
import random
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.flow.running_house import RunningHouse, footnote, running_house

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
REQUESTS = 10_000 if FULL else 400
AT_ONCE = 20
SLOW = 40 if FULL else 0  # each takes its twenty seconds
GROWTH_KB = 64 * 1024
"""What a process may have gained after it: allocators keep some, a leak would keep all."""
PAGE = "# Loans\n\n## Books\n\nA book may be kept for four weeks. A film may be kept five days.\n"

Attack = Callable[[random.Random], tuple[str, str, bytes, dict[str, str]]]
JSON = {"Content-Type": "application/json"}
ROUTES = (
    ("POST", "/chat/run"),
    ("POST", "/chat/stream"),
    ("POST", "/page/stream"),
    ("POST", "/search"),
    ("POST", "/jobs"),
    ("POST", "/feedback"),
    ("PUT", "/policies"),
    ("PUT", "/page/questions/" + "0" * 32),
    ("PATCH", "/gaps/00000000-0000-4000-8000-000000000000"),
)
FIELDS = (
    "message", "text", "session_id", "top_k", "book_ids", "module", "limit", "answer_id",
    "rating", "reason", "paths", "urls", "mode", "state", "chapter_min", "platform", "tenant",
    "similarity_threshold", "proficiency_levels", "__proto__", "",
)  # fmt: skip


def oversized(chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    method, path = chance.choice(ROUTES)
    return method, path, b'{"message": "' + b"x" * chance.randrange(70_000, 2_000_000) + b'"}', JSON


def deep(chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    method, path = chance.choice(ROUTES)
    depth = chance.randrange(500, 20_000)
    opened, closed = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
    ends = closed * depth if chance.random() < 0.5 else b""
    return method, path, b'{"message": ' + opened * depth + b"1" + ends + b"}", JSON


def odd(chance: random.Random) -> object:
    """A value that no field takes, or that only some do."""
    return chance.choice(
        (None, True, -1, 10**400, 1e308, [], {}, [[]], {"a": {}}, "\x00", "\ud800", "", "x" * 2_000)
    )


def wrong_types(chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    method, path = chance.choice(ROUTES)
    names = chance.sample(FIELDS, chance.randrange(1, 6))
    body = {name: odd(chance) for name in names} | {chance.choice(FIELDS) + "x": 1}
    return method, path, json.dumps(body).encode(), JSON


def no_json(chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    method, path = chance.choice(ROUTES)
    body = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 300)))
    kind = chance.choice(("application/json", "text/plain", "multipart/form-data", "x" * 500))
    return method, path, body, {"Content-Type": kind}


def odd_paths(chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    letters = string.ascii_letters + "%./?#&=-_~"
    made = "".join(chance.choice(letters) for _ in range(chance.randrange(1, 400)))
    path = chance.choice(
        (
            f"/read/{made}", f"/lessons/{made}", f"/threads/{made}", f"/jobs/{made}",
            f"/admin/answers/{made}", f"/static/{made}", f"/uploads/library/{made}",
            "/static/%2e%2e/%2e%2e/etc/passwd", f"/nowhere/{made}", f"/admin/nowhere?days={made}",
        )
    )  # fmt: skip
    method = chance.choice(("GET", "DELETE")) if not path.startswith("/uploads") else "PUT"
    return method, path.replace("#", ""), b"", {}


def odd_headers(chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    headers = {
        "Last-Event-ID": "x" * chance.randrange(1, 5_000),
        "Accept-Language": "," * chance.randrange(1, 3_000),
        "Cookie": "footnote_session=" + "y" * chance.randrange(1, 3_000),
        "Origin": chance.choice(("https://evil.example", "null", "http://[", "x")),
        "Authorization": "",  # as a page that has no key but a reader's cookie
        **JSON,
    }
    return "POST", "/chat/run", b'{"message": "How long may a film be kept?"}', headers


ATTACKS: tuple[Attack, ...] = (oversized, deep, wrong_types, no_json, odd_paths, odd_headers)


async def attack(web: httpx.AsyncClient, chance: random.Random, seen: Counter[int]) -> None:
    method, path, body, headers = chance.choice(ATTACKS)(chance)
    try:
        answer = await web.request(method, path, content=body, headers=headers)
    except (httpx.RemoteProtocolError, httpx.WriteError, httpx.ReadError):
        seen[0] += 1  # the server hung up on what is no request at all, or had answered already
        return
    except httpx.InvalidURL:
        return
    seen[answer.status_code] += 1
    assert 400 <= answer.status_code < 500, f"{method} {path[:80]} {body[:80]!r}: {answer.text}"
    assert "Traceback" not in answer.text


async def dripped(house: RunningHouse) -> bytes:
    """A request whose body never comes to an end."""
    host, port = house.web.base_url.host, house.web.base_url.port
    reader, writer = await asyncio.open_connection(host, port)
    lines = (
        "POST /chat/run HTTP/1.1",
        f"Host: {host}:{port}",
        f"Authorization: Bearer {house.key}",
        "Content-Length: 60000",
    )
    writer.write("\r\n".join((*lines, "", "")).encode())
    try:
        while not reader.at_eof():
            writer.write(b" ")
            await writer.drain()
            try:
                async with asyncio.timeout(1):
                    return await reader.read(12)
            except TimeoutError:
                continue
    finally:
        writer.close()
    return b""


def memory_kb(house: RunningHouse) -> int:
    status = Path(f"/proc/{house.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1])


async def storm(house: RunningHouse, requests: int, seed: int) -> Counter[int]:
    chance, seen = random.Random(seed), Counter[int]()

    async def worker(share: int) -> None:
        for _ in range(share):
            await attack(house.web, chance, seen)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(worker(requests // AT_ONCE))
    return seen


async def test_hostile_requests_are_refused_and_others_are_served(tmp_path: Path) -> None:
    (tmp_path / "loans.md").write_text(PAGE, encoding="utf-8")
    await footnote("ingest", "loans.md", "--book", "library", folder=tmp_path)
    async with running_house(tmp_path) as house:
        # What is loaded once is loaded now.
        await house.ask(message="How long may a film be kept?")
        await storm(house, REQUESTS // 4, seed=1)
        before = memory_kb(house)
        slow = [asyncio.create_task(dripped(house)) for _ in range(SLOW)]
        storming = asyncio.create_task(storm(house, REQUESTS, seed=2))
        served = 0
        while not storming.done():
            answer = await house.ask(message="How long may a film be kept?")
            assert "five days" in answer["answer"]
            served += 1
            await asyncio.sleep(0.05)
        seen = await storming
        ended = await asyncio.gather(*slow)
        grown = memory_kb(house) - before
        print(f"refused {dict(seen)}, served {served} meanwhile, memory {grown:+} kB")
    assert served > 0
    assert seen.total() >= REQUESTS * 0.9
    assert seen[422] > 0
    assert seen[413] > 0
    assert seen[403] > 0
    assert all(head in {b"HTTP/1.1 408", b""} for head in ended)
    assert grown < GROWTH_KB
