"""footnote eval on a small question set: figures made by hand, and nothing in readers' books."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.flow.running_house import footnote
from tests.peers.cohere import KEY, cohere_peer
from tests.peers.faults import Status
from tests.shelf_builders import write_files

PAGES = [
    {"id": "tea", "title": "Tea", "text": "Green tea is steeped for two minutes at 75 degrees."},
    {"id": "bread", "title": "Bread", "text": "Rye bread is baked for an hour at 210 degrees."},
    {"id": "bikes", "title": "Bikes", "text": "A bicycle chain is oiled every two weeks."},
]
QUESTIONS = [
    {"id": 1, "question": "How long is green tea steeped?", "relevant_ids": ["tea"],
     "gold_answers": ["two minutes"]},
    {"id": 2, "question": "How hot is rye bread baked?", "relevant_ids": ["bread", "lost"]},
    {"id": 3, "question": "Who won the election?", "relevant_ids": [], "answerable": False},
]  # fmt: skip


def rows(*each: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in each)


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    files = {"corpus.jsonl": rows(*PAGES), "questions.jsonl": rows(*QUESTIONS)}
    return write_files(tmp_path / "kitchen", files)


async def measured(folder: Path, *arguments: str) -> dict[str, Any]:
    printed, _ = await footnote("eval", *arguments, "--json", folder=folder)
    document: dict[str, Any] = json.loads(printed)
    return document


async def test_a_question_set_is_measured(kitchen: Path, tmp_path: Path) -> None:
    document = await measured(tmp_path, "kitchen")
    assert document["question_set"] == "kitchen"
    assert document["pages"] == 3
    quality = document["retrieval"]
    assert quality["questions"] == 2
    assert quality["recall_at_5"] == pytest.approx(0.75)  # one page of three is not there
    assert quality["ndcg_at_10"] == pytest.approx((1 + 1 / (1 + 0.63093)) / 2, abs=1e-4)
    assert quality["mrr_at_10"] == 1.0


async def test_answers_and_refusals_are_measured(kitchen: Path, tmp_path: Path) -> None:
    document = await measured(tmp_path, "kitchen", "--what", "refusal,citations")
    assert "retrieval" not in document
    assert (document["model"], document["profile"]) == ("quoting", "calibrated")
    refusal = document["refusal"]
    assert (refusal["answerable"], refusal["unanswerable"], refusal["errors"]) == (2, 1, 0)
    assert (refusal["answer_rate"], refusal["refusal_rate"]) == (1.0, 1.0)
    assert refusal["confidence_auc"] == 1.0
    cited = document["citations"]
    assert (cited["questions"], cited["right_page_first"]) == (2, 1.0)
    assert (cited["questions_with_gold"], cited["gold_in_reply"]) == (1, 1.0)
    assert 0.0 < cited["precision"] <= 1.0


async def test_the_index_is_kept_apart_from_books_and_used_again(
    kitchen: Path, tmp_path: Path
) -> None:
    first = await measured(tmp_path, "kitchen")
    (kept,) = (tmp_path / "data" / "eval").iterdir()
    assert not (tmp_path / "data" / "index").exists()
    again = await measured(tmp_path, "kitchen", "--what", "retrieval")
    assert first.pop("measured_at") < again.pop("measured_at")
    assert again == first
    assert [kept] == list((tmp_path / "data" / "eval").iterdir())
    (kitchen / "corpus.jsonl").write_text(rows(*PAGES[:2]))
    assert (await measured(tmp_path, "kitchen"))["pages"] == 2
    assert len(list((tmp_path / "data" / "eval").iterdir())) == 2
    books, _ = await footnote("books", "--json", folder=tmp_path)
    assert json.loads(books) == {"books": []}


async def test_other_questions_and_a_table(kitchen: Path, tmp_path: Path) -> None:
    write_files(kitchen, {"a.jsonl": rows(QUESTIONS[0]), "b.jsonl": rows(QUESTIONS[0])})
    options = ("--questions", "kitchen/a.jsonl", "--questions", "kitchen/b.jsonl")
    printed, said = await footnote("eval", "kitchen", *options, folder=tmp_path)
    assert "3 pages, 2 questions with relevant pages" in " ".join(printed.split())
    assert "nDCG@10" in printed
    assert printed.count("1.000") == 3
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("nowhere", "is not a question set"),
        ("kitchen --questions none.jsonl", "cannot be read"),
        ("kitchen --questions kitchen/off.jsonl", "nothing to measure"),
        ("kitchen --what retrieval,speed", "one or more of retrieval, refusal, citations"),
        ("kitchen --what claims", "name a file of claims"),
        ("kitchen --what answers --questions kitchen/bare.jsonl", "no answer can be judged"),
        ("kitchen --at-least speed=1", "NAME one of ndcg, recall"),
        ("kitchen --at-least gold=0.5 --questions kitchen/off.jsonl", "no figure for it"),
        ("kitchen --report told.pdf", "ends in .md or .html"),
        ("kitchen --report nowhere/told.md", "there is no folder"),
        ("", "Name a question set, or two runs"),
        ("kitchen --compare a.json b.json", "Name a question set, or two runs"),
        ("--compare a.json b.json", "cannot be read"),
    ],
)
async def test_what_cannot_be_measured_is_wrong_usage(
    kitchen: Path, tmp_path: Path, arguments: str, words: str
) -> None:
    (kitchen / "off.jsonl").write_text(rows(QUESTIONS[2]))
    (kitchen / "bare.jsonl").write_text(rows(QUESTIONS[1]))
    printed, said = await footnote("eval", *arguments.split(), folder=tmp_path, expect=2)
    assert printed == ""
    assert words in " ".join(said.split())
    assert "Traceback" not in said


async def test_a_gate_decides_the_exit_code_and_has_its_figure_measured(
    kitchen: Path, tmp_path: Path
) -> None:
    gates = ("eval", "kitchen", "--at-least")
    printed, said = await footnote(*gates, "recall=0.75,answered=1", "--json", folder=tmp_path)
    assert json.loads(printed)["refusal"]["answer_rate"] == 1.0
    assert "the relevant page lost is not in the set" in " ".join(said.split())
    printed, said = await footnote(*gates, "recall=0.8,answered=1", folder=tmp_path, expect=1)
    assert "recall (Recall@5) was 0.750 and is below 0.8." in said
    assert "answered (" not in said
    assert "Recall@5" in printed


NATURAL = [
    {"id": "n1", "corpus": "kitchen", "kind": "fact", "question": "how long is green tea steeped",
     "covered": True, "gold": ["kitchen/tea.md"], "must": [["two minutes"]],
     "support": [{"page": "kitchen/tea.md", "text": "Green tea is steeped for two minutes"}]},
    {"id": "n2", "corpus": "kitchen", "kind": "fact", "question": "How hot is rye bread baked?",
     "covered": True, "gold": ["kitchen/bread.md"], "must": [["nine hundred"]]},
    {"id": "n3", "corpus": "garage", "kind": "howto", "question": "and at which heat?",
     "history": [{"role": "user", "text": "How often is a bicycle chain oiled?"},
                 {"role": "assistant", "text": "Never."}],
     "covered": False, "near": ["garage/bikes.md"]},
    {"id": "n4", "corpus": "garage", "question": "Who won the election?", "covered": False},
]  # fmt: skip
CLAIMS = [
    {"id": "c1", "corpus": "kitchen", "claim": "Green tea is steeped for two minutes.",
     "label": "supported", "kind": "paraphrase",
     "evidence": [{"page": "kitchen/tea.md", "start": 0, "end": 60}]},
    {"id": "c2", "corpus": "kitchen", "claim": "Green tea is steeped for nine minutes.",
     "label": "unsupported", "kind": "number",
     "evidence": [{"page": "kitchen/tea.md", "start": 0, "end": 60}]},
]  # fmt: skip


async def test_answers_to_natural_questions_and_claims_are_judged(tmp_path: Path) -> None:
    folders = {"tea": "kitchen", "bread": "kitchen", "bikes": "garage"}
    pages = {f"docs/{folders[page['id']]}/{page['id']}.md": page["text"] for page in PAGES}
    asked = {"asked/n.jsonl": rows(*NATURAL), "asked/claims.jsonl": rows(*CLAIMS)}
    write_files(tmp_path, pages | asked)
    report = ("--report", "told.md")
    arguments = ("docs", "--questions", "asked", *report)
    document = await measured(tmp_path, *arguments, "--what", "answers,claims")
    assert [one["verdict"] for one in document["questions"]][:2] == ["right", "page"]
    assert document["questions"][3]["verdict"] == "refused"
    whole = document["answers"]
    assert (whole["covered"], whole["right"], whole["page"], whole["wrong"]) == (2, 0.5, 0.5, 0.0)
    assert (whole["right_or_page"], whole["not_covered"]) == (1.0, 2)
    assert set(document["answers_by_set"]) == {"kitchen", "garage"}
    assert document["answers_by_set"]["garage"]["right"] is None
    assert (document["claims"]["kept"], document["claims"]["caught"]) == (1.0, 1.0)
    assert document["claims_by_kind"]["number"]["caught"] == 1.0
    assert "retrieval" not in document
    told = (tmp_path / "told.md").read_text()
    assert "covered: right" in told
    assert "Right page, and a fact is missing (1)" in told
    printed, said = await footnote(
        "eval", "docs", "--questions", "asked", "--at-least", "right=0.6,kept=1", folder=tmp_path,
        expect=1,
    )  # fmt: skip
    assert "garage" in printed
    assert "caught" in printed
    assert "right (right) was 0.500 and is below 0.6." in said


async def test_two_runs_are_reported_and_compared(kitchen: Path, tmp_path: Path) -> None:
    everything = ("--report", "told.md", "--report", "told.html")
    before, said = await footnote("eval", "kitchen", *everything, "--json", folder=tmp_path)
    assert "The report stands in told.html." in said
    assert "How long is green tea steeped?" not in (tmp_path / "told.md").read_text()  # all is well
    assert "<svg" in (tmp_path / "told.html").read_text()
    document = json.loads(before)
    assert [row["outcome"] for row in document["questions"]][2] == "no_results"
    assert document["questions"][0]["found"][0] == "tea"
    (tmp_path / "before.json").write_text(before)
    (kitchen / "corpus.jsonl").write_text(rows(*PAGES[1:]))
    after, _ = await footnote("eval", "kitchen", *everything, "--json", folder=tmp_path)
    (tmp_path / "after.json").write_text(after)
    runs = ("--compare", "before.json", "after.json")
    printed, said = await footnote(
        "eval", *runs, "--at-least", "recall=0.5", "--report", "both.html", folder=tmp_path,
        expect=1,
    )  # fmt: skip
    assert "pages: 3 → 2" in printed
    assert "within noise" in printed
    assert "How long is green tea steeped?" in printed
    assert "recall (Recall@5) was 0.250 and is below 0.5." in said
    assert "How long is green tea steeped?" in (tmp_path / "both.html").read_text()
    printed, _ = await footnote("eval", *runs, "--json", folder=tmp_path)
    told = json.loads(printed)
    lost = told["questions"][0]
    assert lost["outcome_after"] == json.loads(after)["questions"][0]["outcome"]
    assert lost["outcome_after"] != lost["outcome_before"] == "completed"
    assert {one["verdict"] for one in told["figures"]} == {"within noise", "the same"}


async def test_the_rerank_model_of_the_house_orders_the_passages_here_too(
    kitchen: Path, tmp_path: Path
) -> None:
    async with cohere_peer() as peer:
        named = {"COHERE_API_KEY": KEY, "CO_API_URL": peer.url, "FOOTNOTE_EMBEDDER": "local"}
        rerank = named | {"COHERE_RERANK_MODEL": "rerank-v3.5"}
        printed, _ = await footnote("eval", "kitchen", "--json", folder=tmp_path, settings=rerank)
        told = {"model": "rerank-v3.5", "searches": 2, "failed": 0}
        assert json.loads(printed)["rerank"] == told
        assert len(peer.reranked) == 2
        peer.faults.script += [Status(400)] * 2
        printed, _ = await footnote("eval", "kitchen", folder=tmp_path, settings=rerank)
    assert "reranked by rerank-v3.5" in " ".join(printed.split())
    assert "Of 2 searches 2 were not reranked" in " ".join(printed.split())


async def test_cut_offs_are_measured_and_kept(kitchen: Path, tmp_path: Path) -> None:
    asked = [
        {"id": f"{page['id']}-{n}", "question": f"What about {page['text'][:-1]}? {n}",
         "relevant_ids": [page["id"]]}
        for page in PAGES for n in range(8)
    ]  # fmt: skip
    strange = [
        {"id": f"s{n}", "question": f"Who won election number {n}?", "relevant_ids": [],
         "answerable": False}
        for n in range(25)
    ]  # fmt: skip
    (kitchen / "questions.jsonl").write_text(rows(*asked, *strange))
    printed, _ = await footnote("calibrate", "kitchen", "--json", folder=tmp_path)
    document = json.loads(printed)
    kept = json.loads((tmp_path / "data" / "estimate.json").read_text())
    assert document["estimate"] == kept
    assert document["sets"][0]["refused"] == 1.0
    told, _ = await footnote("calibrate", "kitchen", folder=tmp_path)
    assert "refused below" in told


async def test_cut_offs_are_measured_on_natural_questions(tmp_path: Path) -> None:
    pages = {f"docs/{page['id']}.md": page["text"] for page in PAGES}
    covered = [
        {"id": f"{page['id']}-{n}", "question": f"What about {page['text'][:-1]}? {n}",
         "covered": True, "gold": [f"{page['id']}.md"], "must": [["a"]]}
        for page in PAGES for n in range(8)
    ]  # fmt: skip
    others = [
        {"id": f"s{n}", "question": f"Who won election number {n}?", "covered": False}
        for n in range(25)
    ]
    write_files(tmp_path, pages | {"asked.jsonl": rows(*covered, *others)})
    arguments = ("docs", "--questions", "asked.jsonl", "--json")
    printed, _ = await footnote("calibrate", *arguments, folder=tmp_path)
    (figures, *_) = json.loads(printed)["sets"]
    assert (figures["answerable"], figures["unanswerable"]) == (24, 25)
    assert figures["refused"] == 1.0


async def test_too_few_questions_calibrate_nothing(kitchen: Path, tmp_path: Path) -> None:
    _, said = await footnote("calibrate", "kitchen", folder=tmp_path, expect=2)
    assert "it takes 20 of each kind" in " ".join(said.split())
    assert not (tmp_path / "data" / "estimate.json").exists()
