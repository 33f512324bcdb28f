"""Question sets are read as they are written, and measures agree with figures made by hand."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.agent.agent import STANDALONE
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.conversation.message import Role
from rag_core.errors import ConfigurationError
from rag_core.evaluation.answer_quality import (
    Given,
    citation_quality,
    cited_pages,
    page_of_chunks,
    refusal_quality,
)
from rag_core.evaluation.measures import auc, ndcg, recall, reciprocal_rank
from rag_core.evaluation.question_set import Said, SetQuestion, load_question_set
from rag_core.evaluation.retrieval_quality import (
    fill_index,
    index_key,
    rankings,
    retrieval_quality,
)
from rag_core.evaluation.threads import thread_before
from rag_core.providers.edge.store import open_edge_store
from rag_core.retrieval.retriever import Retriever
from tests.builders import a_citation, a_response
from tests.fakes.embedder import WordEmbedder
from tests.fakes.locked_folder import locked
from tests.shelf_builders import MORNING, long_text, write_files

LETTERS = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_measures_agree_with_figures_made_by_hand() -> None:
    ranking = ["x", "a", "y", "b"]
    assert ndcg(ranking, {"a", "b"}) == pytest.approx(
        (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))
    )
    assert recall(ranking, {"a", "b", "c"}, at=2) == pytest.approx(1 / 3)
    assert reciprocal_rank(ranking, {"b"}) == 0.25
    assert reciprocal_rank(ranking, {"b"}, at=3) == 0.0
    assert auc([0.9, 0.5], [0.5, 0.1]) == pytest.approx(0.875)


@given(LETTERS, st.sets(st.sampled_from("abcdefgh")))
def test_measures_lie_between_zero_and_one(ranking: list[str], relevant: set[str]) -> None:
    for measure in (ndcg, recall, reciprocal_rank):
        assert 0.0 <= measure(ranking, relevant) <= 1.0
    if relevant:
        assert ndcg(sorted(relevant), relevant) == pytest.approx(1.0)


@given(st.lists(st.floats(0, 1)), st.lists(st.floats(0, 1)))
def test_the_area_under_the_curve_counts_pairs(above: list[float], below: list[float]) -> None:
    pairs = [(a > b) + (a == b) / 2 for a in above for b in below]
    assert auc(above, below) == pytest.approx(sum(pairs) / len(pairs) if pairs else 0.0)


def lines(*rows: object) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def test_a_set_of_passages_is_read(tmp_path: Path) -> None:
    question = {
        "id": 1, "question": "q?", "relevant_ids": ["p1"], "answerable": True,
        "history": [{"role": "user", "text": "before"}], "near_ids": ["p2"],
    }  # fmt: skip
    write_files(
        tmp_path,
        {
            "corpus.jsonl": lines(
                {"id": "p1", "title": "T", "url": "https://x.example", "text": "a"}
            ),
            "questions.jsonl": lines(question),
            "more.jsonl": lines({"id": 2, "question": "r?"}),
        },
    )
    found = load_question_set(tmp_path)
    assert (found.pages[0].source_file, found.pages[0].fields["title"]) == ("p1", "T")
    assert found.questions[0].history[0].role is Role.USER
    assert found.questions[0].near_ids == {"p2"}
    (other,) = load_question_set(tmp_path, [tmp_path / "more.jsonl"]).questions
    assert (other.id, other.answerable) == ("2", False)


def test_pages_are_looked_for_below_the_set_and_then_beside_it(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "set/own.md": "---\nmodule: m\n---\n# Own",
            "set/index.jsonl": lines(
                {"id": "a", "path": "own.md"}, {"id": "b", "path": "set/own.md", "title": "B"}
            ),
            "set/questions.jsonl": "",
        },
    )
    first, second = load_question_set(tmp_path / "set").pages
    assert first.text == second.text == "# Own"
    assert dict(second.fields) == {"module": "m", "title": "B"}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.txt": ""}, "not a question set"),
        ({"corpus.jsonl": ""}, r"questions\.jsonl cannot be read"),
        ({"corpus.jsonl": "{", "questions.jsonl": ""}, "line 1: this is not JSON"),
        ({"corpus.jsonl": "\n[1]", "questions.jsonl": ""}, "line 2"),
        (
            {"corpus.jsonl": '{"id": 7}', "questions.jsonl": ""},
            r"line 1 \(id 7\): there is no 'text'",
        ),
        ({"index.jsonl": '{"id": 7, "path": "x.md"}'}, r"id 7\): .*x\.md cannot be read"),
        ({"corpus.jsonl": "", "questions.jsonl": '{"id": 7}'}, r"id 7\): there is no 'question'"),
        (
            {
                "corpus.jsonl": "",
                "questions.jsonl": '{"id": 7, "question": "q", "history": [{"role": "cat"}]}',
            },
            r"id 7\): 'cat' is not a valid Role",
        ),
    ],
)
def test_what_is_wrong_with_a_set_is_said(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    write_files(tmp_path, files)
    with pytest.raises(ConfigurationError, match=reason):
        load_question_set(tmp_path)


def test_a_set_that_may_not_be_looked_into_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked(tmp_path, monkeypatch)
    with pytest.raises(ConfigurationError, match=rf"{tmp_path} cannot be read \(Permission denied"):
        load_question_set(tmp_path)


def test_an_index_is_named_by_what_is_in_it_and_the_model(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "one/corpus.jsonl": lines({"id": "a", "text": "the text"}),
            "other/corpus.jsonl": lines({"id": "a", "text": "another text"}),
            "one/questions.jsonl": "",
            "other/questions.jsonl": "",
        },
    )
    one, other = (load_question_set(tmp_path / name) for name in ("one", "other"))
    keys = {index_key(each, model=m, now=MORNING) for each in (one, other) for m in ("m", "n")}
    assert len(keys) == 4
    assert index_key(one, model="m", now=MORNING) in keys


async def test_a_page_ranks_by_its_best_chunk(tmp_path: Path) -> None:
    pages = [
        {
            "id": subject,
            "text": f"## One\n\n{long_text('filler')}\n\n## Two\n\n{long_text(subject)}",
        }
        for subject in ("oven", "gear", "tray")
    ]
    questions = [
        {"id": n, "question": f"the {page['id']}", "relevant_ids": [page["id"]]}
        for n, page in enumerate(pages)
    ]
    unanswerable = {"id": 9, "question": "nothing", "relevant_ids": []}
    write_files(
        tmp_path / "set",
        {"corpus.jsonl": lines(*pages), "questions.jsonl": lines(*questions, unanswerable)},
    )
    found = load_question_set(tmp_path / "set")
    embedder = WordEmbedder()
    async with open_edge_store(
        tmp_path / "index", dimension=embedder.dimension, model=embedder.model
    ) as store:
        for _ in range(2):  # the second time nothing is missing
            await fill_index(found, store=store, embedder=embedder, now=MORNING)
        assert len(embedder.embedded) == 6
        ranked = await rankings(found, Retriever(embedder=embedder, store=store))
        quality = retrieval_quality(ranked)
    assert quality.questions == 3
    assert (quality.ndcg_at_10, quality.recall_at_5, quality.mrr_at_10) == (1.0, 1.0, 1.0)


def a_given(
    question: str, *, answer: AgentResponse | None, cited: tuple[str, ...] = (), **fields: Any
) -> Given:
    asked = SetQuestion(id=question, question=question, **fields)
    return Given(question=asked, response=answer, cited=cited)


def test_refusals_are_counted_by_what_should_have_been_done() -> None:
    refused = a_response("No.", outcome=Outcome.NO_RESULTS, confidence=0.1, citations=())
    sure = a_response("Ten [1].", confidence=0.9)
    given = [
        a_given("a", answer=sure, relevant_ids=frozenset("p"), answerable=True),
        a_given("b", answer=refused, relevant_ids=frozenset("p"), answerable=True),
        a_given("c", answer=refused, relevant_ids=frozenset(), answerable=False),
        a_given("d", answer=None, relevant_ids=frozenset(), answerable=False),
    ]
    quality = refusal_quality(given)
    assert (quality.answer_rate, quality.refusal_rate, quality.errors) == (0.5, 0.5, 1)
    assert quality.confidence_auc == 0.75
    assert refusal_quality(given[:2]).refusal_rate is None


def test_citations_are_judged_by_the_pages_that_they_lead_to(tmp_path: Path) -> None:
    pages = [
        {"id": "tea", "text": "Green tea is steeped for two minutes."},
        {"id": "bread", "text": "Rye bread is baked for an hour."},
    ]
    write_files(tmp_path, {"corpus.jsonl": lines(*pages), "questions.jsonl": ""})
    found = load_question_set(tmp_path)
    chunk = {page: chunk for chunk, page in page_of_chunks(found, MORNING).items()}
    both = (
        a_citation(1, chunk_id=chunk["bread"]),
        a_citation(2, chunk_id=chunk["tea"]),
    )
    said = a_response("An hour [1]. It takes **two minutes** [2].", citations=both)
    cited = cited_pages(said, page_of_chunks(found, MORNING))
    assert cited == ("bread", "tea")
    given = [
        a_given(
            "How long is tea steeped?", answer=said, cited=cited,
            relevant_ids=frozenset({"tea"}), answerable=True, gold_answers=("Two minutes",),
        ),
        a_given(
            "And bread?", answer=None, relevant_ids=frozenset({"bread"}), answerable=True,
            gold_answers=("an hour",),
        ),
    ]  # fmt: skip
    quality = citation_quality(given)
    assert (quality.cited_answers, quality.precision) == (1, 0.5)
    assert (quality.questions, quality.right_page_first) == (2, 0.0)
    assert (quality.questions_with_gold, quality.gold_in_reply) == (2, 0.5)


def test_a_question_of_a_conversation_stands_in_its_thread() -> None:
    history = (
        Said(role=Role.USER, text="How do I install Python?"),
        Said(role=Role.ASSISTANT, text="Download it."),
        Said(role=Role.USER, text="And Rust?"),
        Said(role=Role.USER, text="Is it free?"),
    )
    asked = SetQuestion(
        id="1", question="why?", relevant_ids=frozenset(), answerable=True, history=history
    )
    thread = thread_before(asked)
    assert thread.turn_count == 3
    assert [len(turn) for turn in thread.turns] == [2, 2, 2]
    assert "Rust" in thread.metadata[STANDALONE]
    assert thread_before(None).turns == ()
