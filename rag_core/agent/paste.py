"""What a message with a pasted error asks: its own words, and the line that names the error."""

from __future__ import annotations

import re

MANY = 2
"""Lines of a trace or a log from which a message is a paste."""
TRACE = re.compile(
    r"^\s*(?:Traceback\b|File \"|at [\w.$<>]+[( ]|-->|\d*\s*\||\^+\s*$|\.\.\.|goroutine \d"
    r"|Caused by:|(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d)"
    r"|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b)"
    r"|^\s{2,}\S"
)
"""How a line begins that tells where an error happened, or what was going on."""
NAMES_ERROR = re.compile(
    r"^\s*(?:[\w.]*(?:Error|Exception|Warning|Failure)\b|(?:error|fatal|panic|fehler)\b[\[:]"
    r"|E\s{2,}\w|.*\b(?:ERROR|FATAL)\b)",
)


def error_lines(text: str) -> list[str]:
    """The lines that name an error, in order."""
    return [line for line in text.splitlines() if NAMES_ERROR.match(line)]


def is_trace(line: str) -> bool:
    """Whether a line belongs to a trace or a log."""
    return bool(TRACE.match(line) or NAMES_ERROR.match(line))


def essence(message: str) -> str:
    """The message without the lines of a trace; it stays as it is where it holds none."""
    lines = [line for line in message.splitlines() if line.strip()]
    errors = error_lines(message)
    traced = [line for line in lines if TRACE.match(line) and line not in errors]
    if not errors or len(errors) + len(traced) < MANY:
        return message
    said = [line.strip() for line in lines if line not in errors and line not in traced]
    return " ".join((*said, errors[-1].strip()))
