"""Natural questions and claims: read as they are written, judged by facts and pages."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.errors import ConfigurationError
from rag_core.evaluation.answer_figures import answer_figures, by_set
from rag_core.evaluation.claim_quality import (
    checked_claims,
    claim_figures,
    claims_by_kind,
    draft_of,
)
from rag_core.evaluation.judging import Verdict, holds, judged, plain
from rag_core.evaluation.natural import load_materials
from rag_core.evaluation.question_set import SetQuestion
from rag_core.evaluation.rows import QuestionRow
from rag_core.retrieval.context import RetrievalContext
from tests.builders import a_response
from tests.shelf_builders import write_files

TEA = "# Tea\r\n\nGreen tea is steeped for **two minutes** at 75 degrees."
QUESTION = {
    "id": "t1", "corpus": "kitchen", "kind": "fact", "question": "how long does tea need",
    "covered": True, "gold": ["kitchen/tea.md"], "must": [["two minutes", "2 minutes"], ["75"]],
    "support": [{"page": "kitchen/tea.md", "text": "Green tea is steeped for two minutes"}],
}  # fmt: skip
OFF = {"id": "t2", "corpus": "kitchen", "question": "price of tea?", "covered": False,
       "near": ["kitchen/tea.md"]}  # fmt: skip


def lines(*rows: object) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def a_natural(**fields: Any) -> SetQuestion:
    made = {
        "id": "1", "question": "how long", "relevant_ids": frozenset({"tea.md"}),
        "answerable": True, "must": (("two minutes", "2 min"), ("75",)),
        "support": "steeped for two minutes at 75 degrees", "is_natural": True,
    }  # fmt: skip
    return SetQuestion(**(made | fields))


@pytest.mark.parametrize(
    ("text", "fact", "stands"),
    [
        ("It takes **two  minutes** [1].", "Two Minutes", True),
        ("It takes 15 minutes.", "5 minutes", False),
        ("It takes 52 minutes.", "5", False),
        ("by averaging the times", "averag", True),
        ("the mean averaging", "verag", False),
        ("Write `Weak<T>`", "Weak<", True),
        ("don’t wait – go", "don't wait - go", True),
        (r"run \*this\*", "run this", True),
        ("max_retries is set", "`max_retries`", True),
        ("see [2] and [3] there", "see and there", True),
    ],
)
def test_a_fact_stands_in_an_answer_whatever_its_markup(text: str, fact: str, stands: bool) -> None:
    assert holds(plain(text), fact) is stands


@pytest.mark.parametrize(
    ("answer", "cited", "verdict"),
    [
        ("Two minutes at 75 degrees [1].", ("tea.md",), Verdict.RIGHT),
        ("2 min at 75 [1].", ("bread.md", "tea.md"), Verdict.RIGHT),
        ("Two minutes at 75 degrees [1].", ("bread.md",), Verdict.FOUND),
        ("Two minutes [1].", ("tea.md",), Verdict.PAGE),
        ("Two minutes at 175 degrees [1].", ("bread.md",), Verdict.WRONG),
    ],
)
def test_an_answer_needs_every_fact_and_a_right_page(
    answer: str, cited: tuple[str, ...], verdict: Verdict
) -> None:
    assert judged(a_natural(), a_response(answer), cited).verdict is verdict


def test_focus_is_the_share_of_words_that_the_support_has() -> None:
    found = judged(
        a_natural(), a_response("Two minutes at 75 degrees, usually so [1]."), ["tea.md"]
    )
    assert (found.words, found.focus) == (7, pytest.approx(5 / 7))


def an_end(outcome: Outcome, *, cites: bool) -> AgentResponse:
    if cites:
        return a_response("So [1].", outcome=outcome)
    return a_response("No.", outcome=outcome, citations=())


@pytest.mark.parametrize(
    ("outcome", "cites", "verdict"),
    [
        (Outcome.NO_RESULTS, False, Verdict.REFUSED),
        (Outcome.LOW_CONFIDENCE, True, Verdict.CAUTIONED),
        (Outcome.COMPLETED, True, Verdict.ANSWERED),
        (Outcome.COMPLETED, False, Verdict.REFUSED),
    ],
)
def test_what_is_not_covered_should_be_refused_or_get_a_caution(
    outcome: Outcome, cites: bool, verdict: Verdict
) -> None:
    question = a_natural(answerable=False, relevant_ids=frozenset(), must=())
    assert judged(question, an_end(outcome, cites=cites), []).verdict is verdict
    if not cites:
        assert judged(a_natural(), an_end(outcome, cites=False), []).verdict is Verdict.REFUSED


def a_row(verdict: Verdict, *, covered: bool = True, **fields: Any) -> QuestionRow:
    return QuestionRow(id="1", question="?", answerable=covered, verdict=verdict, **fields)


def test_figures_are_shares_of_each_kind_of_question() -> None:
    rows = [
        a_row(Verdict.RIGHT, set="a", words=10, focus=1.0, confidence=0.9),
        a_row(Verdict.PAGE, set="a", words=30, focus=0.5, confidence=0.4),
        a_row(Verdict.WRONG, set="b", words=20, focus=0.0, confidence=0.6),
        a_row(Verdict.REFUSED, set="b", confidence=0.1),
        a_row(Verdict.REFUSED, set="b", covered=False, confidence=0.05),
        a_row(Verdict.ANSWERED, set="b", covered=False, confidence=0.5),
        QuestionRow(id="2", question="not asked", answerable=True, set="b"),
    ]
    found = answer_figures(rows)
    assert (found.covered, found.right, found.right_or_page, found.wrong) == (4, 0.25, 0.5, 0.25)
    assert (found.refused, found.not_covered, found.not_certain) == (0.25, 2, 0.5)
    assert (found.median_words, found.focus) == (20, 0.5)
    assert found.confidence_auc == 0.75
    assert {name: part.right for name, part in by_set(rows).items()} == {"a": 0.5, "b": 0.0}
    assert by_set(rows)["a"].not_certain is None


def kitchen(folder: Path, *rows: object, name: str = "q.jsonl") -> Path:
    write_files(
        folder, {"docs/kitchen/tea.md": TEA, "docs/garage/oil.md": "# Oil", name: lines(*rows)}
    )
    return folder / name


def test_a_corpus_is_a_folder_of_its_name(tmp_path: Path) -> None:
    file = kitchen(tmp_path, QUESTION, OFF)
    (found,) = load_materials([tmp_path / "docs"], [file]).sets
    assert (found.name, [page.source_file for page in found.pages]) == ("kitchen", ["tea.md"])
    covered, other = found.questions
    assert (covered.relevant_ids, covered.must[1]) == ({"tea.md"}, ("75",))
    assert (other.answerable, other.near_ids) == (False, {"tea.md"})
    assert found.lost_pages == {}


@pytest.mark.parametrize("folder", ["docs/kitchen", "docs"])
def test_pages_are_named_below_the_folder_or_beside_it(tmp_path: Path, folder: str) -> None:
    row = QUESTION | {"corpus": "of another name"}
    (found,) = load_materials([tmp_path / folder], [kitchen(tmp_path, row)]).sets
    (gold,) = found.questions[0].relevant_ids
    assert gold in {page.source_file for page in found.pages}
    assert len(found.pages) == (1 if folder == "docs/kitchen" else 2)


def test_a_folder_of_files_makes_one_set_for_each_corpus(tmp_path: Path) -> None:
    oil = QUESTION | {"id": "o1", "corpus": "garage", "gold": ["garage/oil.md"]}
    kitchen(tmp_path, QUESTION, oil, name="asked/one.jsonl")
    kitchen(tmp_path, OFF, name="asked/two.jsonl")
    sets = load_materials([tmp_path / "docs"], [tmp_path / "asked"]).sets
    assert {one.name: len(one.questions) for one in sets} == {"kitchen": 2, "garage": 1}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (QUESTION | {"covered": "yes"}, "id t1.*: covered is true or false"),
        (QUESTION | {"must": ["two"]}, "must is a list of lists"),
        (QUESTION | {"must": []}, "a covered question needs gold and must"),
        (QUESTION | {"corpus": "x", "gold": ["x/y.md"]}, "the pages of x are missing.*x/y.md"),
    ],
)
def test_what_is_wrong_with_a_question_is_named(
    tmp_path: Path, row: dict[str, object], reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        load_materials([tmp_path / "docs"], [kitchen(tmp_path, row)])


def a_claim(text: str, *, label: str = "supported", **fields: object) -> dict[str, object]:
    piece = TEA[8:]
    sha = hashlib.sha256(piece.encode()).hexdigest()[:12]
    evidence = [{"page": "kitchen/tea.md", "start": 8, "end": len(TEA), "sha": sha}]
    made = {"id": text, "corpus": "kitchen", "question": "How long?", "claim": text,
            "evidence": evidence, "label": label, "kind": "number"}  # fmt: skip
    return made | fields


async def test_claims_are_kept_and_caught_by_kind(tmp_path: Path) -> None:
    file = kitchen(
        tmp_path,
        a_claim("It takes two minutes.", kind="paraphrase"),
        a_claim("It takes 75 minutes", kind="paraphrase"),
        a_claim("It takes nine minutes.", label="unsupported"),
    )
    found = load_materials([tmp_path / "docs"], [file])
    assert found.sets == ()

    async def has_two(draft: str, evidence: RetrievalContext, question: str) -> bool:
        assert (evidence[1].text.startswith("Green tea"), question) == (True, "How long?")
        return "two" in draft

    rows = await checked_claims(found.claims, has_two)
    assert [draft_of(claim)[-14:] for claim in found.claims] == [
        "o minutes [1].", "75 minutes [1]", "e minutes [1].",
    ]  # fmt: skip
    figures = claim_figures(rows)
    assert (figures.supported, figures.kept) == (2, 0.5)
    assert (figures.unsupported, figures.caught) == (1, 1.0)
    assert claims_by_kind(rows)["paraphrase"].kept == 0.5
    assert claims_by_kind(rows)["number"].kept is None


def test_a_claim_about_a_page_that_has_changed_is_named(tmp_path: Path) -> None:
    file = kitchen(tmp_path, a_claim("It takes two minutes."))
    (tmp_path / "docs/kitchen/tea.md").write_text(TEA.replace("two", "ten"))
    with pytest.raises(ConfigurationError, match=r"tea\.md has changed: 8 to"):
        load_materials([tmp_path / "docs"], [file])


def test_claims_and_questions_stand_in_files_of_their_own(tmp_path: Path) -> None:
    file = kitchen(tmp_path, QUESTION, a_claim("It takes two minutes."))
    with pytest.raises(ConfigurationError, match="in files of their own"):
        load_materials([tmp_path / "docs"], [file])
