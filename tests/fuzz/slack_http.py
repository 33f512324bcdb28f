"""Slack's HTTP door under a coverage-guided fuzzer: `make fuzz`.

Signs what the fuzzer invents, so that it gets past the signature and into the parsing."""

from __future__ import annotations

import asyncio
import logging
import sys

import atheris

with atheris.instrument_imports(include=["adapters.slack", "slack_bolt"]):
    from tests.fakes.slack_door import SlackDoor, slack_door

from tests.peers.slack_malformed import FORM, JSON, SHAPES, encoded
from tests.peers.slack_sender import signed

ALLOWED = {200, 400, 404}
NOT_NOW = 503


class Defects(logging.Handler):
    """What is logged with a stack is a defect."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            raise AssertionError(record.getMessage()) from record.exc_info[1]

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        raise


class Target:
    """One door for all that the fuzzer sends."""

    def __init__(self, loop: asyncio.AbstractEventLoop, door: SlackDoor) -> None:
        self._loop = loop
        self._door = door

    def __call__(self, data: bytes) -> None:
        kind = FORM if data[:1] == b"p" else JSON
        status = self._loop.run_until_complete(
            self._door.status("POST", signed(data, kind=kind), data)
        )
        if self._door.errands.is_full:  # with Slack out of reach, presses are soon too many
            assert status in {*ALLOWED, NOT_NOW}, status
        else:
            assert status in ALLOWED, status


def main() -> None:
    logging.getLogger().addHandler(Defects())
    loop = asyncio.new_event_loop()
    opened = slack_door()
    door = loop.run_until_complete(opened.__aenter__())
    atheris.Setup(sys.argv, Target(loop, door))
    atheris.Fuzz()


def corpus(folder: str) -> None:
    """The shapes that Slack really sends, to begin with."""
    from pathlib import Path
    from random import Random

    Path(folder).mkdir(parents=True, exist_ok=True)
    for number, shape in enumerate(SHAPES):
        for seed in range(2):
            (Path(folder) / f"{number}-{seed}").write_bytes(encoded(Random(seed), shape))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--corpus"]:
        corpus(sys.argv[2])
    else:
        main()
