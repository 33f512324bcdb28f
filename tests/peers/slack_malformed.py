"""Requests that only look like Slack's: what a broken proxy, a prober or an attacker would send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from time import time
from typing import Any
from urllib.parse import quote

from tests.peers.slack_sender import signed

SECRET_WORDS = "zebra-crossing-words"
"""Stand in every body, and nowhere else."""
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
PIECES = (
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"true", b"-1e999", b"payload=", b"&", b"%",
    b"\xff", b"\x00", b"\xc3\x28", b"\\u0000", b"\\ud800", b'{"type":', b'"event"', b"%ff", b"=",
)  # fmt: skip
STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, "", "x" * 500, [], {}, [[]], {"": ""}, ["a", {"b": []}], "\ud800",
    {"type": "event_callback"}, "U1", {"id": "T1"}, 10**30,
)  # fmt: skip
SHAPES: tuple[dict[str, Any], ...] = (
    {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": "Ev1",
        "authorizations": [{"team_id": "T1", "is_bot": True}],
        "event": {
            "type": "message",
            "channel": "C1",
            "channel_type": "channel",
            "user": "U1",
            "ts": "1790000000.000001",
            "text": "lunch?",
        },
    },
    {
        "type": "block_actions",
        "team": {"id": "T1"},
        "user": {"id": "U1"},
        "channel": {"id": "C1"},
        "container": {"type": "message"},
        "message": {"ts": "1790000000.000001"},
        "trigger_id": "t",
        "response_url": "http://127.0.0.1:9/",
        "actions": [
            {
                "type": "button",
                "action_id": "footnote:evidence",
                "value": f"evidence {'0' * 32} U1 1.1",
            }
        ],
    },
    {
        "type": "view_submission",
        "team": {"id": "T1"},
        "user": {"id": "U1"},
        "view": {
            "type": "modal",
            "callback_id": "footnote:reason",
            "private_metadata": "0" * 32,
            "state": {"values": {"reason": {"words": {"value": "x"}}}},
        },
    },
    {
        "type": "message_action",
        "callback_id": "footnote_answer_this",
        "team": {"id": "T1"},
        "user": {"id": "U1"},
        "channel": {"id": "C1"},
        "message": {"ts": "1790000000.000001", "user": "U2", "text": ""},
        "response_url": "http://127.0.0.1:9/",
    },
    {
        "command": "/lookup",
        "team_id": "T1",
        "user_id": "U1",
        "channel_id": "C1",
        "text": "x",
        "trigger_id": "t",
        "response_url": "http://127.0.0.1:9/",
    },
)


@dataclass(frozen=True)
class Request:
    """One request, and whether Slack could have signed it a moment ago."""

    method: str
    headers: dict[str, str]
    body: bytes
    is_signed: bool


def requests(seed: int) -> Iterator[Request]:
    """Without end, the same for the same seed."""
    random = Random(seed)
    while True:
        yield request_from(random, body_from(random))


def request_from(random: Random, body: bytes) -> Request:
    fitting = FORM if body.startswith(b"payload=") else JSON
    kind = random.choice([fitting] * 12 + [JSON, FORM, f"{JSON}; charset=utf-8", "text/plain", ""])
    match random.randrange(9):
        case 0:
            headers, is_signed = {"Content-Type": kind}, False
        case 1:
            headers, is_signed = signed(body, secret="another", kind=kind), False
        case 2:
            headers = signed(body, at=time() - random.choice([301, 3_600, 10**9]), kind=kind)
            is_signed = False
        case 3:
            headers, is_signed = signed(body + b" ", kind=kind), False
        case _:
            headers, is_signed = signed(body, kind=kind), True
    method = "POST" if random.randrange(20) else random.choice(["GET", "PUT", "DELETE", "TRACE"])
    return Request(method, headers, body, is_signed)


def body_from(random: Random) -> bytes:
    match random.randrange(4):
        case 0:
            body = b"".join(random.choices(PIECES, k=random.randrange(30)))
        case 1:
            body = random.randbytes(random.randrange(200))
        case 2:
            body = encoded(random, mutated(random, random.choice(SHAPES)))
        case _:
            body = spoiled(random, encoded(random, random.choice(SHAPES)))
    return body + SECRET_WORDS.encode() if random.randrange(6) == 0 else body


def encoded(random: Random, value: Any) -> bytes:
    text = json.dumps(value)
    return text.encode() if random.randrange(2) else b"payload=" + quote(text).encode()


def mutated(random: Random, value: Any) -> Any:
    """The same shape with strange things in some of its places."""
    if random.randrange(20) == 0:
        return random.choice(STRANGE)
    if isinstance(value, dict):
        kept = {k: mutated(random, v) for k, v in value.items() if random.randrange(25)}
        return kept | ({SECRET_WORDS: 1} if random.randrange(4) == 0 else {})
    if isinstance(value, list):
        return [mutated(random, v) for v in value]
    return value


def spoiled(random: Random, body: bytes) -> bytes:
    """Cut, doubled, or with a byte changed."""
    at = random.randrange(len(body) + 1)
    return random.choice(
        [body[:at], body[:at] + body, body[:at] + random.randbytes(1) + body[at + 1 :]]
    )
