"""footnote eval --compare: two runs side by side, and what of their difference is noise."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bot.commands.eval import told
from bot.commands.eval_shown import show_comparison, write_reports
from bot.output import print_json
from rag_core.evaluation.comparison import Comparison, compared
from rag_core.evaluation.comparison_report import report_on_both
from rag_core.evaluation.gates import gates_named, passages
from rag_core.evaluation.run import read_run


async def compare(
    before: Path, after: Path, *, at_least: str, reports: Sequence[Path], as_json: bool
) -> int:
    """What must be reached, the second run must reach."""
    gates = gates_named(at_least)
    found = await asyncio.to_thread(lambda: compared(read_run(before), read_run(after)))
    passed = passages(gates, found.after)
    await asyncio.to_thread(write_reports, report_on_both(found, passed), reports)
    if as_json:
        print_json(comparison_document(found))
    else:
        show_comparison(found)
    return told(passed)


def comparison_document(found: Comparison) -> dict[str, Any]:
    return {
        "setup_changes": [
            {"what": name, "before": before, "after": after}
            for name, before, after in found.setup_changes
        ],
        "only_before": found.only_before,
        "only_after": found.only_after,
        "figures": [
            {
                "name": one.figure.name,
                "questions": one.questions,
                "better": one.better,
                "worse": one.worse,
                **asdict(one.found),
                "verdict": one.verdict,
            }
            for one in found.movements
        ],
        "questions": [
            {
                "id": one.after.id,
                "question": one.after.question,
                "outcome_before": one.before.outcome,
                "outcome_after": one.after.outcome,
                "moved": [
                    {"figure": name, "before": was, "after": now} for name, was, now in one.by
                ],
            }
            for one in found.turned
        ],
    }
