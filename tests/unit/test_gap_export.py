"""Gaps as files: words stay words, in Markdown and in a spreadsheet."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from uuid import UUID

import pytest

from rag_core.agent.answer import Suggestion
from rag_core.insight.export import COLUMNS, as_csv, as_markdown
from rag_core.insight.gap import Gap, GapState
from tests.builders import NOON

GAP = Gap(
    gap_id=UUID(int=7),
    state=GapState.PLANNED,
    example="May I bring my dog?",
    examples=("dog office rules",),
    count=2,
    platforms=("discord", "web"),
    first_asked_at=NOON,
    last_asked_at=NOON,
    nearest=Suggestion(
        page_title="House rules", section_heading="Visitors", page_url="https://docs.example/r#v"
    ),
)


def test_a_gap_reads_as_a_thing_to_write_about() -> None:
    assert as_markdown([GAP]) == (
        "# Gaps\n\n"
        "## May I bring my dog?\n\n"
        "- State: planned\n"
        "- Asked in vain: 2 times, last on 2026-03-01 (discord, web)\n"
        "- Nearest section: [House rules › Visitors](<https://docs.example/r#v>)\n"
        "- Also asked:\n"
        "  - dog office rules\n"
    )
    assert "Nothing was asked" in as_markdown([])


def test_what_askers_wrote_is_no_markup() -> None:
    hostile = "[click](https://evil.example)\n# Heading <script>"
    text = as_markdown([replace(GAP, example=hostile, examples=(), nearest=None, count=1)])
    assert r"## \[click\](https://evil.example) \# Heading \<script\>" in text
    assert "- Nearest section: none" in text
    assert "once" in text


@pytest.mark.parametrize("formula", ["=1+1", "@SUM(A1)", "-1", "  =1+1", "＝1+1", "\n=1+1", "\t=1"])
def test_no_cell_begins_a_formula(formula: str) -> None:
    table = as_csv([replace(GAP, example=formula, examples=(f"a;{formula}",))])
    _, row = csv.reader(io.StringIO(table))
    assert row[3] == f"'{formula}"
    assert f'"a;{formula}"' in table  # a semicolon separates nothing inside quotes


def test_a_spreadsheet_gets_every_field_and_no_formula() -> None:
    table = as_csv(
        [replace(GAP, example='=HYPERLINK("https://evil.example")', examples=("+1", "a"))]
    )
    head, row = csv.reader(io.StringIO(table))
    assert tuple(head) == COLUMNS
    told = dict(zip(head, row, strict=True))
    assert told["example"] == '\'=HYPERLINK("https://evil.example")'
    assert told["examples"] == "'+1\na"
    assert (told["state"], told["count"], told["platforms"]) == ("planned", "2", "discord web")
    assert told["nearest_section"] == "House rules › Visitors"
