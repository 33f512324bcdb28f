"""Somebody who knocks at the web door from outside: `python -m tests.faults.knocking ADDRESS`.

A process of its own, because the stand-ins keep this one's interpreter busy."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from time import monotonic, sleep

from tests.flow.running_house import ROOT

EVERY_SECONDS = 0.005


@dataclass
class Knocks:
    """How long each request waited: no less than the program's event loop was away."""

    waited: list[float] = field(default_factory=list)


@contextlib.asynccontextmanager
async def knocking(address: str) -> AsyncIterator[Knocks]:
    """Two hundred times a second, until the block ends or nobody opens any more."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.knocking", address),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    heard = Knocks()
    try:
        yield heard
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        said, _ = await process.communicate()
        heard.waited = [float(line) for line in said.split() if line]


def knock(address: str) -> None:
    """Print what each request waited, in seconds."""
    with closing(HTTPConnection(address.removeprefix("http://").strip("/"), timeout=60)) as door:
        while True:
            began = monotonic()
            door.request("GET", "/livez")
            answer = door.getresponse()
            answer.read()
            print(f"{monotonic() - began:.5f}", flush=True)
            assert answer.status == 200, answer.status
            sleep(EVERY_SECONDS)


if __name__ == "__main__":
    with contextlib.suppress(OSError, HTTPException):  # the program has ended
        knock(sys.argv[1])
