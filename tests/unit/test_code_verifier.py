"""What code alone compares: numbers, units, dates, times, names, commands, code and quotes."""

from __future__ import annotations

import asyncio

import pytest

from rag_core.agent.verification.claims import Claim, ClaimKind, Passage, Support, Verdict
from rag_core.agent.verification.code import CodeVerifier

EVIDENCE = """\
Backups are kept for 30 days and made every night at 2:00. A full one takes 90 minutes.
A team may upload 1,000 files of 25 MB each; storage costs €4.50 a month, or 1 200 yen.
The trial ends on May 14, 2026, a Thursday. Between 10 and 20 people may join.
Run `members list --all` to see everybody; `MAX_FILES` and `Session.close()` are in
`config/app.toml`. See https://docs.example.com/limits. It needs Python 3.10 or node v18.
Access is reviewed on an annual basis. A formula begins with an equals sign.
The status is called “waiting for review”. The load grew by 40 percent.

| Name | Timeout (ms) |
|---|---|
| short | 500 |
| long | 2500 |
"""


def judged(text: str, *texts: str, kind: ClaimKind = ClaimKind.PROSE) -> Verdict:
    passages = [Passage(rank=n, text=t) for n, t in enumerate(texts or (EVIDENCE,), start=1)]
    claim = Claim(text=text, passages=passages[:1], evidence=passages, kind=kind)
    (verdict,) = asyncio.run(CodeVerifier().verify([claim])).verdicts
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(
    "claim",
    [
        "Backups stay for 30 days.",
        "Every night at 02:00 a backup is made.",
        "A backup runs at 2 am.",
        "A full backup takes 1.5 hours.",
        "The team may upload 1000 files.",
        "The team may upload 1k files.",
        "The team may upload one thousand files.",
        "Storage costs 4.50 euros a month.",
        "Storage costs EUR 4.50 monthly.",
        "Storage costs ¥1,200.",
        "The trial ends on 14 May 2026.",
        "The trial ends on 2026-05-14.",
        "The trial ends on the 14th of May.",
        "10 to 20 people may join.",
        "`members list --all` shows everybody.",
        "Use --all to see everybody who is a member.",
        "MAX_FILES is in config/app.toml, and so is Session.close().",
        "The limits are at https://docs.example.com/limits.",
        "It needs Python 3.10 and node 18.",
        "The status “waiting for review” is shown.",
        "The load grew by 40%.",
        "Access is reviewed once a year.",
        "A formula begins with `=`.",
        "The short timeout is 500 ms.",
        "The short timeout is half a second, 500 ms.",
        "Die Backups werden 30 Tage lang aufbewahrt.",
    ],
)
def test_what_the_passage_says_in_another_form_stands(claim: str) -> None:
    verdict = judged(claim)
    assert verdict.stands, verdict.reason


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("Backups stay for 31 days.", "31 days is not in passage 1; it says 30 days."),
        ("Backups stay for 30 weeks.", "30 weeks is not in passage 1; it says 30 days."),
        ("Every backup is made at 3:00.", "03:00 is not in passage 1."),
        ("A full backup takes 90 seconds.", None),
        ("The team may upload 1,001 files.", "1,001 is not in passage 1."),
        ("A team uploads files of 25 GB each.", None),
        ("Storage costs $4.50 a month.", None),
        ("Storage costs €4.50 a day.", None),
        ("The trial ends on May 15, 2026.", "15 May 2026 is not in passage 1."),
        ("The trial ends on June 14.", "14 June is not in passage 1."),
        ("The trial ends on May 14, 2027.", "14 May 2027 is not in passage 1."),
        ("The trial ends on a Friday.", "Friday is not in passage 1."),
        ("`members list --every` shows everybody.", None),
        ("Use --everybody to see everybody.", "--everybody is not in passage 1."),
        ("MAX_FILE is in the config.", "MAX_FILE is not in passage 1."),
        ("Call Session.open() to close it.", "Session.open() is not in passage 1."),
        ("It is in config/main.toml.", None),
        ("The limits are at https://docs.example.org/limits.", None),
        ("It needs Python 3.1 to run.", "3.1 is not in passage 1."),
        ("It needs Python 3.10.2 to run.", "3.10.2 is not in passage 1."),
        ("The status “waiting for approval” is shown.", None),
        ("The load grew by 40 degrees.", None),
        ("Thirty-five people may join.", "Thirty-five is not in passage 1."),
        ("Die Backups werden 40 Tage lang aufbewahrt.", None),
    ],
)
def test_a_changed_detail_is_found(claim: str, reason: str | None) -> None:
    verdict = judged(claim)
    assert verdict.support is Support.CONTRADICTED, claim
    assert verdict.reason == (reason or verdict.reason) != ""


def test_a_claim_is_judged_by_the_passage_that_it_cites_alone() -> None:
    elsewhere = "Old backups are kept for 60 days."
    assert judged("Backups are kept for 60 days.", EVIDENCE, elsewhere).reason == (
        "60 days is not in passage 1; it says 30 days."
    )


def test_words_added_to_a_copied_sentence_are_found() -> None:
    verdict = judged("Backups are kept for 30 days zimtstern.")
    assert verdict.reason == "zimtstern is not in passage 1."


def test_what_shares_nothing_with_its_passage_is_not_found() -> None:
    assert judged("Unicorns graze happily.").support is Support.NOT_FOUND


@pytest.mark.parametrize(
    ("code", "stands"),
    [
        ("members list --all", True),
        ("  members   list --all\n\n", True),
        ("members list --all\nrm -rf /", False),
        ("members drop --all", False),
    ],
)
def test_every_line_of_code_stands_in_the_passage(code: str, stands: bool) -> None:
    assert judged(code, kind=ClaimKind.CODE).stands is stands


def test_the_words_that_back_a_claim_are_named() -> None:
    quotes = judged("A full backup takes 1.5 hours.").quotes
    assert quotes == {1: "A full one takes 90 minutes."}
