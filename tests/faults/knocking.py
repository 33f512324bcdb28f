"""Somebody who knocks at the web door from outside: `python -m tests.faults.knocking ADDRESS`."""

from __future__ import annotations

import sys
from contextlib import AbstractAsyncContextManager, closing
from http.client import HTTPConnection, HTTPException

from tests.faults.noting import Noted, note, noting

EVERY_SECONDS = 0.02
"""Often enough to meet every moment that counts; the knocks themselves need a processor, too."""


def knocking(address: str) -> AbstractAsyncContextManager[Noted]:
    """Fifty times a second, until the block ends or nobody opens any more: each request waits no
    less than the program's event loop is away."""
    return noting(__name__, address)


def main() -> None:
    address = sys.argv[1].removeprefix("http://").strip("/")
    with closing(HTTPConnection(address, timeout=60)) as door:

        def knock() -> None:
            door.request("GET", "/livez")
            answer = door.getresponse()
            answer.read()
            assert answer.status == 200, answer.status

        note(knock, every=EVERY_SECONDS, until=(OSError, HTTPException))  # the program has ended


if __name__ == "__main__":
    main()
