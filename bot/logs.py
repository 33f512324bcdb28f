"""Log lines with ids and counts, for people on a terminal or as JSON; never message text.

A fault that happens again and again is logged once a minute, with how often it happened."""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Literal

STANDARD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
OUR_FLOORS = ("bot", "adapters", "rag_core")
REMEMBERED = 20
WINDOW_SECONDS = 60.0
DIFFERENT_LINES = 3
"""So many lines of one kind of fault are logged in a window where their details differ."""
MAX_KINDS = 500
NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")


def start_logging(level: str, form: Literal["human", "json"] | None) -> None:
    """Send all log lines to standard error; other libraries speak from `warning` on only,
    because several of them log whole requests at `info`."""
    human = sys.stderr.isatty() if form is None else form == "human"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(HumanLines() if human else JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [RepeatedFaults(handler), LastTroubles()]
    root.setLevel(logging.WARNING)
    for floor in OUR_FLOORS:
        logging.getLogger(floor).setLevel(level.upper())


@dataclass
class Repeats:
    """What one kind of fault did in its window."""

    since: float
    logged: set[tuple[str, str]] = field(default_factory=set)
    repeated: int = 0
    last: logging.LogRecord | None = None


class RepeatedFaults(logging.Handler):
    """Hands lines on to another handler; warnings and errors that repeat are counted instead.

    The count is logged when the window is over, and when logging ends: no fault goes unnoticed."""

    def __init__(
        self,
        target: logging.Handler,
        *,
        window_seconds: float = WINDOW_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__()
        self._target = target
        self._window = window_seconds
        self._clock = clock
        self._kinds: OrderedDict[tuple[object, ...], Repeats] = OrderedDict()
        """The oldest window first."""
        self._timer: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.log_counts()
        if record.levelno < logging.WARNING or self._is_new(record):
            self._target.handle(record)

    def log_counts(self) -> None:
        """Log what was repeated in the windows that are over."""
        with self._locked():
            over = self._clock() - self._window
            while self._kinds and next(iter(self._kinds.values())).since <= over:
                self._close_oldest_window()

    def close(self) -> None:
        with self._locked():
            while self._kinds:
                self._close_oldest_window()
            if self._timer is not None:
                self._timer.cancel()
        super().close()

    def _is_new(self, record: logging.LogRecord) -> bool:
        repeats = self._kinds.get(kind_of(record))
        if repeats is None:
            if len(self._kinds) >= MAX_KINDS:
                self._close_oldest_window()
            repeats = self._kinds[kind_of(record)] = Repeats(self._clock())
        line = (record.getMessage(), repr(extras(record)))
        if line not in repeats.logged and len(repeats.logged) < DIFFERENT_LINES:
            repeats.logged.add(line)
            return True
        repeats.repeated, repeats.last = repeats.repeated + 1, record
        self._start_timer()
        return False

    def _close_oldest_window(self) -> None:
        _, repeats = self._kinds.popitem(last=False)
        if repeats.last is not None:
            fields = vars(repeats.last) | {"exc_info": None, "exc_text": None, "stack_info": None}
            count = {"repeated": repeats.repeated, "within_seconds": self._window}
            self._target.handle(logging.makeLogRecord(fields | count))

    def _start_timer(self) -> None:
        """The count is logged also where nothing is logged any more."""
        if self._timer is None:
            self._timer = threading.Timer(self._window, self._time_is_up)
            self._timer.daemon = True
            self._timer.start()

    def _time_is_up(self) -> None:
        with self._locked():
            self._timer = None
            self.log_counts()
            if any(repeats.repeated for repeats in self._kinds.values()):
                self._start_timer()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.acquire()
        try:
            yield
        finally:
            self.release()


def kind_of(record: logging.LogRecord) -> tuple[object, ...]:
    """What repeats of a fault have in common: event and place, not its numbers and details."""
    event = NUMBER.sub("#", str(record.msg).partition("\n")[0])
    error, _, trace = record.exc_info or (None, None, None)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else None
    return record.name, record.levelno, event, error, place


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
