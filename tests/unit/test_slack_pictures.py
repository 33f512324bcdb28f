"""The pictures in the documents show what the adapter posts today."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pictures_are_those_of_todays_payloads() -> None:
    drawn = runpy.run_path(str(DOCS / "slack_pictures.py"))["pictures"]()
    assert set(drawn) == {"answer", "refusal", "evidence", "private"}
    for name, svg in drawn.items():
        kept = (DOCS / "images" / f"slack-{name}.svg").read_text(encoding="utf-8")
        assert kept == svg, "draw them anew: python docs/slack_pictures.py"


@pytest.mark.parametrize("name", ["answer", "refusal", "evidence", "private"])
def test_the_document_shows_them(name: str) -> None:
    assert f"images/slack-{name}.svg" in (DOCS / "slack.md").read_text(encoding="utf-8")
