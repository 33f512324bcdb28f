"""Reports and comparisons of runs: figures made by hand, noise named, text that stays text."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.agent.answer import Outcome
from rag_core.errors import ConfigurationError
from rag_core.evaluation.answer_quality import RefusalQuality
from rag_core.evaluation.comparison import compared
from rag_core.evaluation.comparison_report import report_on_both
from rag_core.evaluation.gates import gates_named, passages
from rag_core.evaluation.html_report import html_of
from rag_core.evaluation.markdown_report import markdown_of
from rag_core.evaluation.noise import difference, spread
from rag_core.evaluation.question_set import load_question_set
from rag_core.evaluation.report import report_on
from rag_core.evaluation.retrieval_quality import RetrievalQuality
from rag_core.evaluation.rows import QuestionRow
from rag_core.evaluation.run import Reranking, Run, read_run
from tests.shelf_builders import write_files

MORNING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
NASTY = '<script>alert(1)</script> | `x` [a](https://evil.example) "quoted" @everyone'


def row(number: int, **fields: Any) -> QuestionRow:
    found = QuestionRow(
        id=f"q{number}",
        question=f"Question {number}?",
        answerable=True,
        relevant_ids=("a",),
        found=("a", "b"),
        ndcg_at_10=1.0,
        recall_at_5=1.0,
        mrr_at_10=1.0,
        outcome=Outcome.COMPLETED,
        confidence=0.8,
        cited=("a",),
        has_gold=True,
    )
    return replace(found, **fields)


def run_of(*rows: QuestionRow, **fields: Any) -> Run:
    return Run(
        question_set="kitchen",
        embedding_model="m",
        history="on",
        pages=3,
        measured_at=MORNING,
        retrieval=RetrievalQuality(
            questions=len(rows), ndcg_at_10=0.75, recall_at_5=0.5, mrr_at_10=0.5
        ),
        refusal=RefusalQuality(
            answerable=2, answer_rate=0.5, unanswerable=0, refusal_rate=None,
            confidence_auc=None, errors=0,
        ),
        questions=rows,
        **fields,
    )  # fmt: skip


def lost(number: int) -> QuestionRow:
    return row(number, outcome=Outcome.NO_RESULTS, confidence=0.1, cited=(), has_gold=False)


def test_a_run_is_kept_and_read_as_it_was(tmp_path: Path) -> None:
    rerank = Reranking(model="rerank-v3.5", searches=4, failed=1)
    run = run_of(row(1), lost(2), rerank=rerank)
    (tmp_path / "run.json").write_text(json.dumps(run.document()))
    assert read_run(tmp_path / "run.json") == run
    assert "citations" not in run.document()
    assert run_of().document()["rerank"] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "is not JSON"), ("[]", "is not as"), ('{"pages": 3}', "question_set is not as")],
)
def test_what_is_no_run_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ConfigurationError, match=words):
        read_run(tmp_path / "run.json")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_run(tmp_path / "none.json")


def test_one_changed_question_is_noise_and_many_are_not() -> None:
    before = run_of(*map(row, range(40)))
    one = compared(before, run_of(lost(0), *map(row, range(1, 40))))
    many = compared(before, run_of(*map(lost, range(12)), *map(row, range(12, 40))))
    assert {m.verdict for m in one.movements if m.worse} == {"within noise"}
    verdicts = {m.figure.name: m.verdict for m in many.movements}
    assert (verdicts["answered"], verdicts["ndcg"]) == ("worse", "the same")
    answered = next(m for m in many.movements if m.figure.name == "answered")
    assert (answered.found.before, answered.found.after) == (1.0, 0.7)
    assert (answered.questions, answered.better, answered.worse) == (40, 0, 12)
    assert answered.found.low < answered.found.size < answered.found.high < 0
    assert [turned.after.id for turned in one.turned] == ["q0"]


def test_the_other_way_round_what_was_worse_is_better() -> None:
    good, bad = run_of(*map(row, range(40))), run_of(*map(lost, range(40)))
    there, back = compared(good, bad), compared(bad, good)
    assert {m.verdict for m in there.movements} == {"worse", "the same"}
    assert {m.verdict for m in back.movements} == {"better", "the same"}
    precision = {m.figure.name for m in there.movements}
    assert "precision" not in precision  # nothing at all is cited in one of them


def test_yes_and_no_are_tested_by_the_sign_test() -> None:
    pairs = [(1.0, 1.0, 0.0, 1.0)] * 5 + [(1.0, 1.0, 1.0, 1.0)] * 20
    found = difference(pairs)
    assert found is not None
    assert found.chance == pytest.approx(2 / 2**5, abs=0.01)
    assert found.is_noise


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.floats(0, 1), st.just(1.0)), min_size=1, max_size=20))
def test_a_figure_lies_in_its_range_and_never_differs_from_itself(
    gains: list[tuple[float, float]],
) -> None:
    lies = spread(gains)
    assert lies is not None
    mean = sum(gained for gained, _ in gains) / len(gains)
    assert lies[0] - 1e-9 <= mean <= lies[1] + 1e-9
    same = difference([(*gain, *gain) for gain in gains])
    assert same is not None
    assert (same.size, same.chance) == (0.0, 1.0)


def test_runs_without_a_question_in_common_are_not_compared() -> None:
    with pytest.raises(ConfigurationError, match="no question in common"):
        compared(run_of(row(1)), run_of(replace(row(1), question="Worded anew?")))
    found = compared(run_of(row(1), row(2)), run_of(row(2), row(3), row(4)))
    assert (found.only_before, found.only_after) == (1, 2)
    assert "1 questions are in the first run alone and 2" in markdown_of(report_on_both(found))


def test_what_was_set_up_differently_is_told() -> None:
    rerank = Reranking(model="rerank-v3.5", searches=1, failed=0)
    found = compared(run_of(row(1)), run_of(row(1), rerank=rerank))
    assert found.setup_changes == [("rerank", "none", "rerank-v3.5")]


def test_gates_are_read_and_judged() -> None:
    run = run_of(row(1), lost(2))
    first, second = passages(gates_named("ndcg=0.75, answered=0.6"), run)
    assert (first.is_open, second.is_open) == (True, False)
    assert str(second) == "answered (answered) was 0.500 and is below 0.6."
    with pytest.raises(ConfigurationError, match="has no figure for it"):
        passages(gates_named("refused=0.1"), run)


@pytest.mark.parametrize("text", ["speed=1", "ndcg", "ndcg=high", "ndcg=1.5", "ndcg=nan", "=0.5"])
def test_gates_that_say_nothing_are_wrong_usage(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--at-least was"):
        gates_named(text)


class Page(HTMLParser):
    """The tags of a page, and its addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [v or "" for name, v in attrs if name in {"src", "href", "xlink:href"}]
        if tag not in {"meta", "rect", "line", "circle"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"rect", "line", "circle"}:
            assert self.open.pop() == tag


def test_an_html_report_needs_nothing_beside_it_and_runs_nothing() -> None:
    run = run_of(lost(1), replace(row(2), id=NASTY), replace(lost(3), question=NASTY))
    passed = passages(gates_named("answered=0.9"), run)
    both = report_on_both(compared(run, run_of(row(1), row(2))))
    for report in (report_on(run, passed), both):
        page = Page()
        page.feed(html_of(report))
        assert page.open == []
        assert page.addresses == []
        assert "script" not in page.tags
        assert "svg" in page.tags
    assert "NOT REACHED" in html_of(report_on(run, passed))


def test_a_markdown_report_keeps_questions_in_their_cells() -> None:
    told = markdown_of(report_on(run_of(replace(lost(1), question=f"{NASTY}\n# Oh"))))
    (line,) = [line for line in told.splitlines() if "alert" in line]
    assert line.count(" | ") == 3  # four cells: bars of the question are escaped
    assert "<script" not in line.replace("\\<", "")
    assert "https://" not in line
    assert "\n# Oh" not in told
    assert "Answerable, and refused (1)" in told


def test_searches_that_were_not_reranked_are_said() -> None:
    rerank = Reranking(model="rerank-v3.5", searches=40, failed=3)
    told = markdown_of(report_on(run_of(row(1), rerank=rerank)))
    assert "Of 40 searches 3 were not reranked" in told
    whole = markdown_of(report_on(run_of(row(1), rerank=replace(rerank, failed=0))))
    assert "not reranked" not in whole


ROWS = '{"id": 1, "question": "q?"}\n\n'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id": 2, "question": "q?", "answerable": "no"}', "answerable is true or false"),
        (b'{"id": 2, "question": "q?", "relevant_ids": "tea"}', "relevant_ids is a list"),
        (b'{"id": 2, "question": " "}', "question is empty"),
        (b'{"id": 1, "question": "again?"}', "line 1 has the same id"),
        (b'{"id": 2, "question": "\xff"}', "this is not UTF-8"),
        (b'{"id": 2}', "there is no 'question'"),
        (b"{", "this is not JSON"),
    ],
)
def test_a_bad_line_is_named_with_its_file_and_number(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    write_files(tmp_path, {"corpus.jsonl": '{"id": "tea", "text": "x"}'})
    (tmp_path / "questions.jsonl").write_bytes(ROWS.encode() + line)
    with pytest.raises(ConfigurationError, match=rf"questions\.jsonl, line 3.*{reason}"):
        load_question_set(tmp_path)


def test_relevant_pages_that_are_not_there_are_known(tmp_path: Path) -> None:
    asked = '{"id": 1, "question": "q?", "relevant_ids": ["tea", "lost"]}'
    write_files(tmp_path, {"corpus.jsonl": '{"id": "tea", "text": "x"}', "questions.jsonl": asked})
    assert load_question_set(tmp_path).lost_pages == {"lost": "1"}
