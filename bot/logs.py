"""Log lines with ids and counts, for people on a terminal or as JSON; never message text."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

STANDARD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
OUR_FLOORS = ("bot", "adapters", "rag_core")
REMEMBERED = 20


def start_logging(level: str, form: Literal["human", "json"] | None) -> None:
    """Send all log lines to standard error; other libraries speak from `warning` on only,
    because several of them log whole requests at `info`."""
    human = sys.stderr.isatty() if form is None else form == "human"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(HumanLines() if human else JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler, LastTroubles()]
    root.setLevel(logging.WARNING)
    for floor in OUR_FLOORS:
        logging.getLogger(floor).setLevel(level.upper())


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """An error that was logged: when, and our sentence for it."""

    at: datetime
    sentence: str


class LastTroubles(logging.Handler):
    """Remembers the last errors of our own floors, for whoever asks how the house is."""

    def __init__(self) -> None:
        super().__init__(level=logging.ERROR)
        self.known: deque[Trouble] = deque(maxlen=REMEMBERED)

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] in OUR_FLOORS:
            at = datetime.fromtimestamp(record.created, UTC)
            self.known.append(Trouble(at=at, sentence=record.getMessage()))


def last_troubles() -> Sequence[Trouble]:
    """The errors of this process, the oldest first; nothing before logging was started."""
    handlers = logging.getLogger().handlers
    return [known for each in handlers if isinstance(each, LastTroubles) for known in each.known]


def extras(record: logging.LogRecord) -> Mapping[str, object]:
    """The ids and counts that a line carries."""
    return {name: value for name, value in vars(record).items() if name not in STANDARD_FIELDS}


def stack(record: logging.LogRecord) -> list[str]:
    """Where an error arose; its text is left out, because it may quote a message or a key."""
    if not record.exc_info or record.exc_info[0] is None:
        return []
    frames = traceback.extract_tb(record.exc_info[2])
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return [*places, record.exc_info[0].__name__]


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **extras(record),
        }
        if places := stack(record):
            line["stack"] = places
        return json.dumps(line, ensure_ascii=False, default=str)


class HumanLines(logging.Formatter):
    """Time, level and sentence, then what belongs to it."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        details = " ".join(f"{name}={value}" for name, value in extras(record).items())
        head = f"{time} {record.levelname.lower():<7} {record.getMessage()}"
        return "\n    ".join([f"{head}  {details}".rstrip(), *stack(record)])
