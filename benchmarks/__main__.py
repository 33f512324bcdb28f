"""`python -m benchmarks [NAME…]`: measures and writes docs/benchmarks.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.report import Section, bench

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def section(name: str, title: str, about: str, *, seconds: float, more: str = "") -> Section:
    call = (sys.executable, "-m", f"benchmarks.{name}", *more.split())
    return Section(name=name, title=title, about=about, call=call, seconds=seconds)


SECTIONS = (
    section(
        "idle",
        "Before anybody asks",
        "Slack, Discord, the web door, the local model and the embedded index are on."
        " Bare: the same libraries imported, and the same model loaded.",
        seconds=60,
    ),
    section(
        "storage",
        "The database",
        "SQLite, every commit on the disk. Plain: aiosqlite with the same settings.",
        seconds=180,
        more="--threads 500000",
    ),
    section(
        "ingestion",
        "Reading documents in",
        "Pages of eight passages. Bare: the index engine, handed finished points.",
        seconds=190,
    ),
    section(
        "retrieval",
        "Finding passages",
        "Questions with their vectors. Bare: the index engine, asked by one thread.",
        seconds=220,
        more="--grown 200000",
    ),
    section(
        "reading",
        "Asking while a book is read",
        "Twenty new questions a second, from their words to the passages, with the local model."
        " Bare: the same before the book is read.",
        seconds=60,
    ),
    section(
        "agent",
        "Answering",
        "A model server on this machine. Bare: a tool loop over AsyncOpenAI without any check.",
        seconds=120,
    ),
    section(
        "page",
        "The page in a browser",
        "A real Chromium, nothing in its cache; the model is a server on this machine.",
        seconds=70,
    ),
)
"""All bounds together are 15 minutes."""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    names = [each.name for each in SECTIONS]
    arguments.add_argument("name", nargs="*", help=f"one of {', '.join(names)}; none: all")
    chosen = arguments.parse_args().name
    if unknown := set(chosen) - set(names):
        arguments.error(f"there is no section {', '.join(sorted(unknown))}: {', '.join(names)}")
    return bench(SECTIONS, chosen, PAGE)


if __name__ == "__main__":
    sys.exit(main())
