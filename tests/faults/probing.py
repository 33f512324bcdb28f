"""A probe, or Slack, who connects anew each time: `python -m tests.faults.probing ADDRESS/PATH`."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractAsyncContextManager, closing
from http.client import HTTPConnection, HTTPException
from time import sleep
from urllib.parse import urlsplit

from tests.faults.noting import Noted, note, noting
from tests.peers.slack_sender import signed

EVERY_SECONDS = 0.1
FAILED_SECONDS = 60.0
"""How a request counts that was not answered, or not with 200."""
SLACK_PATH = "/slack/events"


def probing(address: str, path: str) -> AbstractAsyncContextManager[Noted]:
    """Ten times a second, until the block ends; the seconds of each from its connection on."""
    return noting(__name__, address.rstrip("/") + path)


def main() -> None:
    url = urlsplit(sys.argv[1])
    body = json.dumps({"type": "url_verification", "challenge": "anybody there?"}).encode()

    def probe() -> None:
        assert url.hostname is not None
        with closing(HTTPConnection(url.hostname, url.port, timeout=FAILED_SECONDS)) as door:
            try:
                if url.path == SLACK_PATH:
                    door.request("POST", url.path, body, signed(body))
                else:
                    door.request("GET", url.path)
                status = door.getresponse().status
            except (OSError, HTTPException):
                status = 0
        if status != 200:
            print(FAILED_SECONDS, flush=True)
            sleep(EVERY_SECONDS)

    note(probe, every=EVERY_SECONDS)


if __name__ == "__main__":
    main()
