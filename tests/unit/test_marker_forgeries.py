"""Of many answers with markers that are forged, missing, foreign or doubled, none leaves with one
that has no evidence."""

from __future__ import annotations

import random
import re

import pytest

from rag_core.agent.checks.guard import guarded
from rag_core.agent.verification.check import CheckedText
from rag_core.retrieval.context import RetrievalContext
from tests.fakes.checked_drafts import check, passages
from tests.markdown_spans import code_spans

FACTS = (
    "Every member may upload ten files a day.",
    "A file may have at most 25 MB.",
    "Guests stay for 30 days.",
    "The owner of a workspace can remove guests at any time.",
    "Backups are made every night at 2:00.",
    "Run `members list` to see who belongs to a workspace.",
    "Deleted files are kept for a week.",
)
FORGED = ("[0]", "[8]", "[99]", "[1234]", "[^9]", "【12】", "[9, 11]", "[8-12]", "[[9]]",
          "[source 9]", "[Ref. 44]", "［77］", "[9†L1-L4]", "[ 10 ]", "[8][9][10]")  # fmt: skip
ANSWERS = 500


def evidence() -> RetrievalContext:
    return passages(*FACTS, title="Handbook")


def markers(fact: int, chance: random.Random) -> str:
    """The right marker, none, a foreign one, a doubled one, a forged one, or several of these."""
    right, foreign = f"[{fact + 1}]", f"[{(fact + 3) % len(FACTS) + 1}]"
    kinds = [right, "", foreign, right * 2, chance.choice(FORGED), f"[{fact + 1}, 9]", "[1-7]"]
    return "".join(chance.choice(kinds) for _ in range(chance.randint(1, 3)))


def answer(chance: random.Random) -> str:
    lines = []
    for _ in range(chance.randint(1, 8)):
        fact = chance.randrange(len(FACTS))
        text, marker = FACTS[fact].rstrip("."), markers(fact, chance)
        form = chance.choice(("{0} {1}.", "{0}. {1}", "- {0} {1}", "{1} {0}.", "| {0} {1} | x |",
                              "> {0} {1}.", "## {0} {1}", "1. {0}{1}."))  # fmt: skip
        lines.append(form.format(text, marker))
    if chance.random() < 0.3:
        lines.append("```\nmembers list [9]\nsee who belongs to a workspace [1]\n```")
    return chance.choice(("\n\n", "\n", " ")).join(lines)


def in_prose(text: str) -> list[int]:
    prose = " ".join(span.text for span in code_spans(text) if not span.is_code)
    return [int(number) for number in re.findall(r"[\[【［]\D{0,8}(\d{1,4})", prose)]


def faults(known: RetrievalContext, draft: str, result: CheckedText) -> list[str]:
    numbers = [citation.number for citation in result.citations]
    cited = in_prose(guarded(result.text))
    hashes = {result.content_hash for result in known.results}
    wrong = {
        "dangling": set(cited) - set(numbers),
        "never cited": set(numbers) - set(cited) if "```" not in draft else set(),
        "not from 1 on": numbers != list(range(1, len(numbers) + 1)),
        "marks and markers differ": [mark.number for mark in result.marks] != cited
        and "```" not in draft,
        "foreign evidence": any(c.content_hash not in hashes for c in result.citations),
        "doubled": re.search(r"\[(\d+)\][ \t]*\[\1\]", result.text),
    }
    return [name for name, happened in wrong.items() if happened]


def test_no_marker_leaves_without_its_evidence() -> None:
    chance, known = random.Random(4), evidence()
    failed, answered = [], 0
    for _ in range(ANSWERS):
        draft = answer(chance)
        result = check(guarded(draft), known)
        answered += bool(result.citations)
        wrong = faults(known, draft, result)
        failed += [f"{wrong} in {result.text!r} from {draft!r}"] if wrong else []
    assert not failed, f"{len(failed)} of {ANSWERS}: {failed[:3]}"
    assert answered > 0.85 * ANSWERS


@pytest.mark.parametrize("marker", FORGED)
def test_markers_in_code_are_code(marker: str) -> None:
    text = f"Run `members list {marker}` to see who belongs to a workspace [6]."
    result = check(text, evidence())
    assert marker in result.text or not result.text
