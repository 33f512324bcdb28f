"""Small samples of the table of faults, through the real program; `make faults` does a tenth."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_core.desk.failpoints import POINTS, Failpoint
from tests.faults.connections import TOO_LATE, TWICE
from tests.faults.row import Scale
from tests.faults.rows import ROWS

SMALL = {"kills": 0.01, "connections": 0.02}
WHOLE = {
    "deliveries": 0.01,
    "posts": 0.02,
    "shutdown": 0.02,
    "disk-full": 0.1,
    "disk-fails": 0.1,
    "damaged-page": 0.1,
    "clock": 0.1,
    "services": 0.1,
}
TIMES = {
    TOO_LATE,
    TWICE,
    "a start took 5 s or longer",
    "went on later than 5 s after there was space",
    "went on later than 5 s after it could",
}
"""No test asserts how quick this machine is."""
ROWS_TRIED = SMALL | (WHOLE if os.environ.get("FOOTNOTE_TESTS") == "full" else {})


@pytest.mark.parametrize("name", sorted(ROWS_TRIED))
async def test_a_small_sample_reaches_its_figures(name: str, tmp_path: Path) -> None:
    outcome = await ROWS[name](Scale(share=ROWS_TRIED[name], seed=3, folder=tmp_path / "yard"))
    assert set(outcome.misses) <= TIMES, outcome.figures


def test_a_failpoint_strikes_at_its_visit_and_nowhere_else() -> None:
    struck: list[str] = []
    point = Failpoint("settle.after", visit=2, happens=lambda: struck.append("now"))
    for name in (*POINTS, "settle.before"):
        point.pass_by(name)
    assert struck == []
    point.pass_by("settle.after")
    point.pass_by("settle.after")
    assert struck == ["now"]
    with pytest.raises(ValueError, match="no such point"):
        Failpoint("lunch.after", visit=1, happens=lambda: None)
