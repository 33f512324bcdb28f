"""Somebody who knocks at the web door from outside: `python -m tests.faults.knocking ADDRESS`.

A process of its own, because the stand-ins keep this one's interpreter busy."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from time import monotonic, sleep

from tests.flow.running_house import ROOT

EVERY_SECONDS = 0.02
"""Often enough to meet every moment that counts; the knocks themselves need a processor, too."""


@dataclass
class Knocks:
    """How long each request waited: no less than the program's event loop was away."""

    waited: list[float] = field(default_factory=list)


@contextlib.asynccontextmanager
async def knocking(address: str) -> AsyncIterator[Knocks]:
    """Fifty times a second, until the block ends or nobody opens any more."""
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


def knock(address: str, waited: list[float]) -> None:
    """Note what each request waited, in seconds."""
    with closing(HTTPConnection(address.removeprefix("http://").strip("/"), timeout=60)) as door:
        while True:
            began = monotonic()
            door.request("GET", "/livez")
            answer = door.getresponse()
            answer.read()
            waited.append(monotonic() - began)
            assert answer.status == 200, answer.status
            sleep(EVERY_SECONDS)


def main() -> None:
    """What was noted is told at the end: nobody reads it before, and a full pipe holds up."""
    waited: list[float] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        knock(sys.argv[1], waited)
    except (OSError, HTTPException):  # the program has ended
        pass
    finally:
        print("\n".join(f"{each:.5f}" for each in waited))


if __name__ == "__main__":
    main()
