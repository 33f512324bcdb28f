"""A process that reads one file after the other and can be killed at any time."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rag_core.ingestion.loaders.document import Converted, Unreadable

ROOT = Path(__file__).parents[3]
"""Where the package lies: the process finds it there, wherever this one was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may cost."""

    seconds: float = 60
    memory: int = 1024 * 1024 * 1024
    output: int = 20 * 1024 * 1024
    """Bytes of text; a page of a book has about 3,000."""


class Container:
    """The process, started with the first file and anew after one that broke it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()
        self._is_closed = False

    def convert(self, reader: str, name: str, content: bytes) -> Converted:
        """A file's text as the reader there makes it, or why there is none. Blocks."""
        with self._turn:
            was_used = self._is_running()
            reply = self._asked(reader, name, content)
            if was_used and not reply.get("late") and reply.get("broken"):
                # What earlier files left behind is not this one's fault: once more, on its own.
                reply = self._asked(reader, name, content)
        if (reason := reply.get("unreadable")) is not None:
            raise Unreadable(str(reason))
        return Converted(
            text=str(reply["text"]), fields=reply["fields"], notices=tuple(reply["notices"])
        )

    def _asked(self, reader: str, name: str, content: bytes) -> dict[str, Any]:
        """The reply to one request; a process that broke over it is ended."""
        process = self._running()
        with alarm(process, self._limits.seconds) as rang:
            reply = exchange(process, reader, name, content, self._limits.output)
        if reply is None:
            reply = {"unreadable": self._fate(rang.is_set()), "broken": True, "late": rang.is_set()}
        if reply.get("broken"):
            self._end()
        return reply

    def close(self) -> None:
        """End the process; a file that is being read in another thread is given up."""
        self._is_closed = True
        if (process := self._process) is not None:
            process.kill()
        with self._turn:
            self._end()

    def _is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._is_closed:
            raise Unreadable("reading was stopped")
        if not self._is_running():
            self._end()
            self._process = started(self._limits)
        if self._is_closed or self._process is None:  # closed while it was started
            self._end()
            raise Unreadable("reading was stopped")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()

    def _fate(self, was_late: bool) -> str:
        if was_late:
            return f"reading it took longer than {self._limits.seconds:g} seconds"
        return (
            "it broke the program that reads it: it is damaged, or needs more than"
            f" {self._limits.memory // (1024 * 1024)} MB of memory"
        )


def started(limits: Limits) -> subprocess.Popen[bytes]:
    """The process knows nothing of this one: no settings, no secrets, no open files."""
    command = [
        sys.executable, "-m", "rag_core.ingestion.loaders.contained",
        str(limits.memory), str(limits.output), str(int(limits.seconds) + 1),
    ]  # fmt: skip
    return subprocess.Popen(  # noqa: S603 - our own module, our own numbers
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,
    )


@contextlib.contextmanager
def alarm(process: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """Kills the process when its time is over; the event tells whether it came to that."""
    rang = threading.Event()

    def ring() -> None:
        rang.set()
        process.kill()

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield rang
    finally:
        timer.cancel()


def exchange(
    process: subprocess.Popen[bytes], reader: str, name: str, content: bytes, most: int
) -> dict[str, Any] | None:
    """One file over, one reply back; nothing where the process died or said too much."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        send(process.stdin, {"reader": reader, "name": name, "size": len(content)}, content)
        header = process.stdout.readline(64)
        size = int(header) if header.strip().isdigit() else None
        if size is None or size > 2 * most:  # JSON may need more than the text itself
            return None
        body = process.stdout.read(size)
        reply = json.loads(body) if len(body) == size else None
    except (OSError, ValueError):
        return None
    return reply if isinstance(reply, dict) else None


def send(pipe: IO[bytes], header: dict[str, Any], content: bytes) -> None:
    pipe.write(json.dumps(header).encode() + b"\n")
    pipe.write(content)
    pipe.flush()
