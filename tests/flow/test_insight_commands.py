"""footnote gaps and footnote stats, with a bot at work and without one."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from tests.flow.running_house import footnote, running_house

PAGE = "# Loans\n\n## Books\n\nA book may be kept for four weeks. A film may be kept five days.\n"
IN_VAIN = (
    "Who won the football world cup in 1990?",
    "Which team won the football world cup in 1990?",
)


async def test_what_is_asked_in_vain_is_told_by_the_commands(tmp_path: Path) -> None:
    (tmp_path / "loans.md").write_text(PAGE, encoding="utf-8")
    await footnote("ingest", "loans.md", "--book", "library", folder=tmp_path)
    async with running_house(tmp_path) as house:
        for question in IN_VAIN:
            assert (await house.ask(message=question))["outcome"] == "no_results"
        answered = await house.ask(message="How long may a film be kept?")
        assert answered["should_answer"]
        rating = {"answer_id": answered["answer_id"], "rating": "helpful"}
        assert (await house.web.post("/feedback", json=rating)).status_code == 204
        (gap,) = json.loads((await footnote("gaps", "--json", folder=tmp_path))[0])["gaps"]
        changed = await house.web.patch(f"/gaps/{gap['gap_id']}", json={"state": "planned"})
        assert changed.status_code == 204
    assert {gap["example"], *gap["examples"]} == set(IN_VAIN)
    assert (gap["count"], gap["state"], gap["platforms"]) == (2, "open", ["web"])

    nothing, _ = await footnote("gaps", "--state", "open", folder=tmp_path)
    assert "Nothing was asked in vain." in nothing
    markdown, _ = await footnote("gaps", "--markdown", folder=tmp_path)
    assert "- State: planned" in markdown
    table, _ = await footnote("gaps", "--csv", folder=tmp_path)
    (row,) = csv.DictReader(io.StringIO(table))
    assert row["example"] in IN_VAIN

    stats = json.loads((await footnote("stats", "--json", folder=tmp_path))[0])
    assert stats["questions"] == 3
    assert stats["outcomes"]["no_results"] == 2
    assert stats["seconds_to_answer"]["p95"] > 0
    assert [(c["platform"], c["channel_id"]) for c in stats["channels"]] == [("web", "")]
    shown, _ = await footnote("stats", "--days", "2", folder=tmp_path)
    assert "web" in shown
    _, said = await footnote("gaps", "--json", "--csv", folder=tmp_path, expect=2)
    assert "choose one" in said
