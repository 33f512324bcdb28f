"""Whatever comes to Slack's HTTP door, nothing breaks, nothing is quoted, nothing is kept."""

from __future__ import annotations

import gc
import json
import logging
import os
import resource
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.fakes.slack_door import slack_door
from tests.peers.slack_malformed import SECRET_WORDS, SHAPES, requests
from tests.peers.slack_sender import signed

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
REQUESTS = 100_000 if FULL else 1_500
ALLOWED = {200, 400, 401, 404, 405, 415, 500}


async def test_no_malformed_request_breaks_or_leaks(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    seen: Counter[tuple[bool, int]] = Counter()
    async with slack_door() as door:
        for number, request in enumerate(islice(requests(seed=1), REQUESTS)):
            status = await door.status(request.method, request.headers, request.body)
            seen[request.is_signed, status] += 1
            if number % 500 == 0:
                quoted = [r for r in caplog.records if SECRET_WORDS in f"{r.__dict__}"]
                assert not quoted
                broken = [r for r in caplog.records if r.exc_info]
                assert not broken, repr(broken[0].exc_info)
                caplog.clear()
    assert {status for _, status in seen} <= ALLOWED
    assert not {status for is_signed, status in seen if not is_signed} & {200, 404, 500}
    assert sum(seen.values()) == REQUESTS


def memory_kb() -> int:
    """What this process holds now; the most it ever held would hide what grows below that."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() // 1024


async def test_memory_stays_flat() -> None:
    async with slack_door() as door:
        before = memory_kb()
        sizes = []
        for round_number in range(6):
            for request in islice(requests(seed=round_number), REQUESTS // 10):
                await door.status(request.method, request.headers, request.body)
            gc.collect()
            sizes.append(len(gc.get_objects()))
        assert sizes[-1] < sizes[1] * 1.05 + 2_000, sizes
        assert memory_kb() - before < 50_000


async def test_every_replay_and_every_foreign_signature_is_refused() -> None:

    async with slack_door() as door:
        for shape in SHAPES:
            body = json.dumps(shape).encode()
            for age in (301, 600, 86_400):
                headers = signed(body, at=time.time() - age)
                assert await door.status("POST", headers, body) == 401
            assert await door.status("POST", signed(body, secret="another"), body) == 401
            assert await door.status("POST", signed(b"another body"), body) == 401
