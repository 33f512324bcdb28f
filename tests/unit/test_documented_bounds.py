"""The bounds that the documents tell are the ones that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.web.routes.hooks import WINDOW
from bot.examination.look import LOOK_SECONDS
from bot.examination.machine import LEAST_FREE_BYTES
from bot.supervisor import ANEW_SECONDS, DRAIN_SECONDS
from rag_core.books.source import LONGEST, SHORTEST
from rag_core.desk.limits import DeskLimits
from rag_core.ingestion.chunking import TARGET_TOKENS
from rag_core.ingestion.kinds import KINDS, MEGABYTE
from rag_core.ingestion.loaders.archive import MOST_BYTES, MOST_MARKUP, MOST_PACKED, MOST_PARTS
from rag_core.ingestion.loaders.container import Limits
from rag_core.storage.engines.examination import LOCK_SECONDS
from rag_core.websites.response import FetchLimits

DOCS = Path(__file__).parents[2] / "docs"
FILE, SITE, DESK = Limits(), FetchLimits(), DeskLimits()
NUMBERS = {1: "one", 4: "four"}
GIGABYTE = 1024 * MEGABYTE
SMALL = {KINDS[suffix].max_bytes for suffix in (".md", ".txt", ".html", ".rst")}
LARGE = {KINDS[suffix].max_bytes for suffix in (".ipynb", ".pdf", ".docx", ".pptx")}


def in_mb(sizes: set[int]) -> str:
    (size,) = sizes
    return f"{size // MEGABYTE} MB"


TOLD = {
    "ingestion.md": [
        f"{in_mb(SMALL)} of text, HTML or reStructuredText, {in_mb(LARGE)} of the others",
        f"{FILE.seconds} seconds, {FILE.memory // GIGABYTE} GB and"
        f" {FILE.output // MEGABYTE} MB a file",
        f"{MOST_BYTES // MEGABYTE} MB unpacked, {MOST_MARKUP // MEGABYTE} MB of it markup,"
        f" {MOST_PARTS:,} parts, at most {MOST_PACKED} times the packed size",
        f"until no part is much above {TARGET_TOKENS} tokens",
    ],
    "sources.md": [
        f"from {SHORTEST.seconds // 60} minutes (`{SHORTEST.seconds // 60}m`) to"
        f" {LONGEST.days} days (`{LONGEST.days}d`)",
        f"at most {WINDOW} s off",
        f"at most {SITE.pages:,} of at most {SITE.page_bytes // MEGABYTE} MB each,"
        f" {SITE.total_bytes // GIGABYTE} GB and an hour in all, {NUMBERS[SITE.at_once]} at a time",
    ],
    "operating.md": [
        f"none of it for more than {LOOK_SECONDS:.0f} seconds",
        f"less than {LEAST_FREE_BYTES // MEGABYTE} MB free",
        f"a write lock held for {LOCK_SECONDS:.0f} s",
        f"lets the answers in work end for {DRAIN_SECONDS} seconds",
        f"answers in work have {'a second' if ANEW_SECONDS == 1 else ANEW_SECONDS} to end",
        f"run out after `FOOTNOTE_ANSWER_SECONDS` and {DESK.lease_margin.seconds} seconds more",
        f"`FOOTNOTE_PARALLEL_ANSWERS` of {DESK.parallel} carry them",
    ],
    "desk.md": [f"Who waits for a worker for {'two' if DESK.queue_seconds == 120 else ''} minutes"],
}


@pytest.mark.parametrize(
    ("document", "sentence"), [(name, each) for name, told in TOLD.items() for each in told]
)
def test_a_bound_is_told_as_it_holds(document: str, sentence: str) -> None:
    text = " ".join((DOCS / document).read_text(encoding="utf-8").split())
    assert sentence in text


def test_a_website_is_read_for_an_hour() -> None:
    assert SITE.seconds == 3_600
