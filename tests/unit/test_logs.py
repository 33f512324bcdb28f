"""Log lines tell ids and counts; texts and secrets stay out of them."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from subprocess import PIPE
from typing import Any

import pytest

from bot.logs import WINDOW_SECONDS, HumanLines, JsonLines, RepeatedFaults


def record(exc: BaseException | None = None, **extra: object) -> logging.LogRecord:
    made = logging.getLogger("bot.test").makeRecord(
        "bot.test", logging.INFO, __file__, 1, "answer delivered", (), None, extra=extra
    )
    made.exc_info = (type(exc), exc, exc.__traceback__) if exc else None
    return made


def test_a_json_line_is_one_object_with_its_ids() -> None:
    line = JsonLines().format(record(question_id="q-1", parts=2))
    assert "\n" not in line
    document = json.loads(line)
    assert document["message"] == "answer delivered"
    assert (document["question_id"], document["parts"]) == ("q-1", 2)


@pytest.mark.parametrize("lines", [JsonLines(), HumanLines()])
def test_an_errors_text_is_left_out_but_its_place_is_there(lines: logging.Formatter) -> None:
    try:
        raise ValueError("seeded secret in a message")
    except ValueError as error:
        shown = lines.format(record(error))
    assert "seeded" not in shown
    assert "ValueError" in shown
    assert "test_logs.py" in shown


@dataclass
class Log:
    """What was logged, by a clock of its own."""

    now: float = 0.0
    text: StringIO = field(default_factory=StringIO)

    def __post_init__(self) -> None:
        target = logging.StreamHandler(self.text)
        target.setFormatter(JsonLines())
        self.handler = RepeatedFaults(target, clock=lambda: self.now)

    def fault(
        self, level: int = logging.ERROR, event: str = "call failed", **extra: object
    ) -> None:
        made = logging.getLogger("bot.test").makeRecord(
            "bot.test", level, __file__, 1, event, (), None, extra=extra
        )
        self.handler.handle(made)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.getvalue().splitlines()]


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    yield made
    made.handler.close()


def failure() -> BaseException:
    try:
        raise ValueError
    except ValueError as error:
        return error


def test_a_fault_that_repeats_is_logged_once_a_minute_with_its_count(log: Log) -> None:
    for _ in range(1_000):
        log.fault(place="C1")
    assert len(log.lines) == 1
    log.now += WINDOW_SECONDS
    log.handler.log_counts()
    first, count = log.lines
    assert "repeated" not in first
    assert (count["message"], count["place"], count["repeated"]) == ("call failed", "C1", 999)
    log.fault(place="C1")
    assert len(log.lines) == 3, "a new minute begins with a line"


def test_no_fault_is_without_a_line_or_a_count(log: Log) -> None:
    for number in range(5_000):
        log.now += 0.05
        log.fault(place=f"C{number % 700}")
    log.handler.close()
    assert sum(line.get("repeated", 1) for line in log.lines) == 5_000


def test_different_faults_do_not_hide_each_other(log: Log) -> None:
    for _ in range(3):
        log.fault(platform="slack")
        log.fault(platform="discord")
        log.fault(event="call refused")
        log.fault(logging.WARNING)
    seen = [(line["level"], line["message"], line.get("platform")) for line in log.lines]
    assert seen == [
        ("error", "call failed", "slack"),
        ("error", "call failed", "discord"),
        ("error", "call refused", None),
        ("warning", "call failed", None),
    ]


def test_what_is_no_fault_is_always_logged(log: Log) -> None:
    for _ in range(100):
        log.fault(logging.INFO, "answer delivered")
    assert len(log.lines) == 100


def test_a_loop_of_errors_stays_below_a_kilobyte_a_second(log: Log) -> None:
    """As asyncio logs them: with a stack, and with numbers that are never the same."""
    seconds = 600
    for number in range(200 * seconds):
        log.now += 1 / 200
        event = f"socket.accept() out of system resource\nsocket: <socket {number} at 0x{number:x}>"
        made = record(failure(), fd=number)
        made.msg, made.levelno = event, logging.ERROR
        log.handler.handle(made)
    assert len(log.text.getvalue()) < 1_024 * seconds
    log.handler.close()
    assert sum(line.get("repeated", 1) for line in log.lines) == 200 * seconds


def test_a_count_is_logged_by_a_process_that_falls_silent() -> None:
    script = (
        "import logging, sys; from bot.logs import JsonLines, RepeatedFaults\n"
        "target = logging.StreamHandler(); target.setFormatter(JsonLines())\n"
        "logging.getLogger().addHandler(RepeatedFaults(target, window_seconds=0.2))\n"
        "for _ in range(7): logging.getLogger('bot').error('call failed')\n"
        "sys.stdin.readline()\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        lines = [json.loads(process.stderr.readline()) for _ in range(2)]
        process.stdin.close()
    assert [line.get("repeated") for line in lines] == [None, 6]


def test_a_process_that_ends_logs_its_counts() -> None:
    script = (
        "import logging; from bot.logs import start_logging; start_logging('info', 'json')\n"
        "for _ in range(7): logging.getLogger('bot').error('call failed')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], stderr=PIPE, text=True, check=True)
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert [line.get("repeated") for line in lines] == [None, 6]
