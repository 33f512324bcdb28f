"""A message with a log, a trace or a file in it: where its question stands, and which of its lines
name an error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.agent.requests import QUESTION_MARK, asks_something, talk_in

LONGEST_ASKED = 500
"""Characters of a question that stands among other text."""
FEWEST_LINES = 4
"""Lines from which a message may be more than what somebody says."""
EDGE = 3
REPEATED = 3
"""So many lines that begin alike are printed by a program."""
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
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
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*[.,;:!?…]*")
LEAST_SPOKEN = 0.6
"""Of the pieces between the spaces of what somebody says, so many are plain words."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that may be somebody's own words, and where it stands."""

    text: str
    start: int
    end: int
    paragraph: int


def error_lines(text: str) -> list[str]:
    """The lines that name an error, in order."""
    return [line for line in text.splitlines() if NAMES_ERROR.match(line)]


def without_paste(message: str) -> str:
    """What a message asks: its question, with the last line that names an error where it was
    pasted below; a message of a few lines is what it says."""
    if len([line for line in message.splitlines() if line.strip()]) < FEWEST_LINES:
        return message
    start, end = find_question(message)
    errors = error_lines(message[:start] + message[end:])
    return " ".join(filter(None, (message[start:end].strip(), *(e.strip() for e in errors[-1:]))))


def find_question(text: str) -> tuple[int, int]:
    """Where the question of a message stands: the line that most reads as one, with the lines
    around it that are as much somebody's own words."""
    lines = list(own_lines(text))
    if not lines:
        return fallback(text)
    openings = Counter(opening(line) for line in text.splitlines() if line.strip())
    edges = {*lines[:EDGE], *lines[-EDGE:]}
    best = max(
        lines, key=lambda line: score(line.text, openings[opening(line.text)], line in edges)
    )
    run = [best]
    for others in (lines[lines.index(best) + 1 :], lines[: lines.index(best)][::-1]):
        for line in others:
            if line.paragraph != best.paragraph or not is_spoken(line.text, openings):
                break
            run.append(line)
    start, end = min(line.start for line in run), max(line.end for line in run)
    if end - start > LONGEST_ASKED:
        start, end = best.start, best.end
    return within(text, start, end)


def score(line: str, alike: int, at_edge: bool) -> float:
    """How much a line reads as a question among the lines around it."""
    words = line.split()
    spoken = sum(WORD.fullmatch(word) is not None for word in words) / len(words)
    points = 2.0 * bool(QUESTION_MARK.search(line)) + asks_something(line) + at_edge
    points += 0.5 * (len(words) > 2) - 3.0 * (talk_in(line) is not None)
    return points - 3.0 * (spoken < LEAST_SPOKEN) - 2.0 * (alike >= REPEATED)


def is_spoken(line: str, openings: Counter[str]) -> bool:
    return openings[opening(line)] < REPEATED and score(line, 0, False) > -2.0


def opening(line: str) -> str:
    """How a line begins, without its numbers."""
    return re.sub(r"\d+", "0", line.split()[0])


def own_lines(text: str) -> Iterator[Line]:
    """The lines that are neither empty nor code, quotes or a log."""
    fence, position, paragraph = "", 0, 0
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        is_foreign = fence or found or line.startswith(">") or TRACE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence):
            fence = ""
        if not line.strip():
            paragraph += 1
        elif not is_foreign and not NAMES_ERROR.match(line):
            yield Line(line, position, position + len(line), paragraph)
        position += len(line)


def within(text: str, start: int, end: int) -> tuple[int, int]:
    """Of a long line the sentence that asks, with what stands before it."""
    if end - start <= LONGEST_ASKED:
        return start, end
    marks = [start + found.end() for found in QUESTION_MARK.finditer(text[start:end])]
    if not marks:
        return start, start + LONGEST_ASKED
    return max(start, marks[-1] - LONGEST_ASKED), marks[-1]


def fallback(text: str) -> tuple[int, int]:
    """Where nobody says anything: the last line that names an error, else the first one."""
    errors: Sequence[str] = error_lines(text)
    line = errors[-1] if errors else text.partition("\n")[0]
    start = text.rindex(line)
    return start, min(start + len(line), start + LONGEST_ASKED)
