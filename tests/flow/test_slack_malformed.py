"""Whatever comes to Slack's HTTP door, nothing breaks, nothing is quoted, nothing is kept."""

from __future__ import annotations

import asyncio
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
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.slack_door import slack_door
from tests.peers.slack_malformed import FORM, JSON, SECRET_WORDS, SHAPES, requests
from tests.peers.slack_sender import SIGNING_SECRET, signed

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
REQUESTS = 100_000 if FULL else 1_500
ALLOWED = {200, 400, 401, 404, 405, 415, 500}
NAMES = sorted(
    {name for shape in SHAPES for name in shape} | {"authorizations", "files", "payload"}
)


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


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), inside, max_size=6)
    ),
    max_leaves=25,
)
BODIES = st.one_of(
    st.binary(max_size=400),
    JSON_LIKE.map(lambda value: json.dumps(value).encode()),
    st.tuples(st.sampled_from(SHAPES), st.sampled_from(NAMES), JSON_LIKE).map(
        lambda made: json.dumps({**made[0], made[1]: made[2]}).encode()
    ),
    st.tuples(st.sampled_from(SHAPES), st.integers(0, 900), st.binary(max_size=8)).map(
        lambda made: (whole := json.dumps(made[0]).encode())[: made[1]] + made[2] + whole[made[1] :]
    ),
)


class Defects(logging.Handler):
    """What is logged with a stack is a defect, and what quotes a body is a leak."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info or SECRET_WORDS in f"{record.__dict__}":
            self.found.append(record.getMessage())


def test_nothing_that_is_invented_breaks_the_door_or_is_quoted() -> None:
    defects = Defects()
    logging.getLogger().addHandler(defects)
    asked = REQUESTS if FULL else REQUESTS // 5
    answered: Counter[int] = Counter()

    with asyncio.Runner() as runner:
        opened = slack_door()
        door = runner.run(opened.__aenter__())

        @settings(max_examples=asked, deadline=None)
        @given(body=BODIES, is_form=st.booleans(), is_signed=st.booleans(), quotes=st.booleans())
        def send(body: bytes, is_form: bool, is_signed: bool, quotes: bool) -> None:
            sent = (b"payload=" if is_form else b"") + body
            sent += SECRET_WORDS.encode() if quotes else b""
            headers = signed(
                sent,
                secret=SIGNING_SECRET if is_signed else "another",
                kind=FORM if is_form else JSON,
            )
            status = runner.run(door.status("POST", headers, sent))
            assert status in (ALLOWED if is_signed else {401})
            assert not defects.found
            answered[status] += 1

        try:
            send()
        finally:
            logging.getLogger().removeHandler(defects)
            runner.run(opened.__aexit__(None, None, None))
    assert answered.total() >= asked, answered


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
