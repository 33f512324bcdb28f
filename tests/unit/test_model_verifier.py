"""One call of the language model judges all claims of an answer, and code finds its words."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from rag_core.agent.verification.anchors import find_anchor
from rag_core.agent.verification.claims import Support
from rag_core.agent.verification.model import REPORT, ModelVerifier
from rag_core.errors import UpstreamUnavailable
from tests.fakes.checked_drafts import check, passages
from tests.fakes.scripted_model import Scripted, ScriptedModel, Searching

GUESTS = (
    "Guests can read public channels. **Guests** cannot\npost messages unless the owner agrees."
)
LIMITS = "The daily limit is 10 uploads. Files larger than 25 MB are not accepted."
DRAFT = "Guests may not write unless the owner agrees [1]. Big files are refused [2]."


def verdict(claim: int, support: str, *words: tuple[int, str], reason: str = "") -> dict[str, Any]:
    quoted = [{"passage": passage, "text": text} for passage, text in words]
    return {"claim": claim, "verdict": support, "words": quoted, "reason": reason}


GOOD = [
    verdict(1, "supported", (1, "Guests cannot post messages unless the owner agrees")),
    verdict(2, "supported", (2, "larger than 25 MB are not accepted")),
]


def reply(*verdicts: dict[str, Any]) -> str:
    return json.dumps({"verdicts": list(verdicts)})


def called(*verdicts: dict[str, Any]) -> Searching:
    return Searching(arguments=(reply(*verdicts),), tool=REPORT.name)


def judged(draft: str, said: Scripted, **changes: Any) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel([said])
    found = passages(GUESTS, LIMITS, title="Handbook")
    return check(draft, found, verifier=ModelVerifier(model), **changes), model


@pytest.mark.parametrize(
    "said",
    [
        called(*GOOD),
        reply(*GOOD),
        f"Here it is:\n```json\n{reply(*GOOD)}\n```\nAnything else?",
        json.dumps(GOOD),
        f"{{so}} {reply(*GOOD)}",
    ],
    ids=["call", "text", "fenced", "list", "after a bracket"],
)
def test_verdicts_are_read_however_they_are_wrapped(said: Scripted) -> None:
    checked, model = judged(DRAFT, said)
    assert checked.text == DRAFT
    assert checked.checked_by == "model"
    assert [mark.quote for mark in checked.marks] == [
        "Guests cannot post messages unless the owner agrees",
        "larger than 25 MB are not accepted",
    ]
    assert len(model.requests) == 1


def test_all_claims_are_judged_in_one_request_with_their_passages_once() -> None:
    _, model = judged(DRAFT, called(*GOOD), question="What may guests do?")
    (request,) = model.requests
    asked = json.loads(request[-1].content)
    assert asked["question"] == "What may guests do?"
    assert [each["passage"] for each in asked["passages"]] == [1, 2]
    assert [(each["text"], each["cites"]) for each in asked["claims"]] == [
        ("Guests may not write unless the owner agrees.", [1]),
        ("Big files are refused.", [2]),
    ]


def test_a_contradicted_claim_is_removed_with_its_reason() -> None:
    wrong = verdict(1, "contradicted", reason="They may, if the owner agrees.")
    checked, _ = judged(DRAFT, called(wrong, GOOD[1]))
    assert checked.text == "Big files are refused [1]."
    assert [(each.text, each.reason) for each in checked.removed] == [
        ("Guests may not write unless the owner agrees.", "They may, if the owner agrees.")
    ]


def test_what_is_merely_not_said_stays_and_says_so() -> None:
    checked, _ = judged(DRAFT, called(verdict(1, "not_found"), GOOD[1]))
    assert checked.text == (
        "Guests may not write unless the owner agrees *(not found in the documents)*."
        " Big files are refused [1]."
    )
    assert [each.text for each in checked.unfound] == [
        "Guests may not write unless the owner agrees."
    ]


def test_words_that_are_not_in_the_passage_count_as_not_found() -> None:
    made_up = verdict(1, "supported", (1, "guests never write at all"))
    checked, _ = judged(DRAFT, called(made_up, GOOD[1]))
    assert "*(not found in the documents)*" in checked.text


def test_a_marker_moves_to_the_passage_that_has_the_words() -> None:
    draft = "Big files are refused [1]."
    checked, _ = judged(draft, called(verdict(1, "supported", (2, "not accepted"))))
    assert checked.text == draft
    assert checked.citations[0].quote == "not accepted"
    assert checked.citations[0].content_hash == f"hash of {LIMITS}"


def test_the_model_is_told_what_code_misses_and_may_find_a_sum() -> None:
    draft = "Both of you together have 20 uploads [2]. Big files are refused [2]."
    sum_of_two = verdict(1, "supported", (2, "The daily limit is 10 uploads"))
    wrong = verdict(1, "contradicted", reason="The limit does not hold for each.")
    for first in (sum_of_two, wrong):
        big = verdict(2, "supported", (2, "larger than 25 MB are not accepted"))
        checked, model = judged(draft, called(first, big))
        asked = json.loads(model.requests[0][-1].content)["claims"]
        assert asked[0]["program_found"] == "20 is not in passage 2."
        assert "program_found" not in asked[1]
        assert ("20 uploads" in checked.text) is (first is sum_of_two)


def test_a_command_that_stands_nowhere_falls_whatever_the_model_says() -> None:
    draft = "Run `upload --all` for that [2]. Big files are refused [2]."
    said = called(verdict(1, "supported", (2, "larger than 25 MB are not accepted")))
    checked, model = judged(draft, said)
    assert checked.text == "Big files are refused [1]."
    assert checked.removed[0].reason == "`upload --all` is not in passage 2."
    assert len(json.loads(model.requests[0][-1].content)["claims"]) == 1


def test_what_stands_word_for_word_is_not_asked_about() -> None:
    checked = check(
        "The daily limit is 10 uploads [2].",
        passages(GUESTS, LIMITS),
        verifier=ModelVerifier(ScriptedModel([])),
    )
    assert checked.text == "The daily limit is 10 uploads [1]."


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("I think that they are all fine.", "failed"),
        ('{"verdicts": [{"claim": 1, "verdict": "perhaps"}]}', "failed"),
        (UpstreamUnavailable("openai"), "failed"),
    ],
)
def test_where_the_model_fails_code_decides_and_the_answer_says_so(
    said: Scripted, cause: str
) -> None:
    checked, _ = judged(DRAFT, said)
    assert checked.text == DRAFT
    assert checked.checked_by == f"code (the language model's check {cause})"


def test_a_model_that_takes_too_long_is_not_waited_for() -> None:
    model = ScriptedModel([called(*GOOD)], seconds=3600.0)
    checked = check(DRAFT, passages(GUESTS, LIMITS), verifier=ModelVerifier(model), seconds=2.0)
    assert checked.text == DRAFT
    assert checked.checked_by == "code (the language model's check timed out)"


def test_a_sentence_without_a_marker_may_claim_nothing() -> None:
    draft = f"{DRAFT} The handbook does not say what a guest costs."
    said = called(*GOOD, verdict(3, "no_claim"))
    checked, _ = judged(draft, said)
    assert checked.text == draft
    assert not checked.faults


def test_a_sentence_with_a_marker_claims_something() -> None:
    draft = "Bananas are yellow [1]. Big files are refused [2]."
    said = called(verdict(1, "no_claim"), GOOD[1])
    checked, _ = judged(draft, said)
    assert checked.text == "Big files are refused [1]."


def test_the_schema_is_strict() -> None:
    def objects(schema: Any) -> list[dict[str, Any]]:
        inner = schema.values() if isinstance(schema, dict) else schema
        found = [schema] if isinstance(schema, dict) and schema.get("type") == "object" else []
        nested = (each for each in inner if isinstance(each, dict | list))
        return found + [each for one in nested for each in objects(one)]

    for each in objects(dict(REPORT.parameters)):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])


@pytest.mark.parametrize(
    ("words", "passage", "found"),
    [
        ("10 uploads", "at most **10** `uploads`", "10 uploads"),
        ("run make env", "run\n  `make env`", "run make env"),
        ("MAX_FILES is 3", "`MAX_FILES` is 3.", "MAX_FILES is 3"),
        ("0 uploads", "10 uploads", ""),
        ("保留30天", "备份保留30天。", "保留30天"),
        ("…", "anything", ""),
    ],
)
def test_words_are_found_white_space_and_marks_aside(words: str, passage: str, found: str) -> None:
    assert find_anchor(words, passage) == found


def test_every_support_has_its_word_in_the_schema() -> None:
    verdicts = REPORT.parameters["properties"]["verdicts"]["items"]["properties"]
    assert verdicts["verdict"]["enum"] == [support.value for support in Support]


def test_claims_are_judged_in_their_order() -> None:
    claims_model = ScriptedModel([called(GOOD[1], GOOD[0])])
    found = passages(GUESTS, LIMITS)
    checked = check(DRAFT, found, verifier=ModelVerifier(claims_model))
    assert checked.text == DRAFT
    assert asyncio.run(ModelVerifier(ScriptedModel([called()])).verify([])).verdicts == []


def test_code_that_does_not_do_what_its_line_says_falls_with_the_line() -> None:
    commands = "`npm run lint` checks the sources. `npm run build` minifies them."
    draft = "This minifies the sources:\n\n```\nnpm run lint\n```\n\nIt is checked [1]."
    for support, stays in (("contradicted", False), ("not_found", True), ("supported", True)):
        model = ScriptedModel(
            [called(verdict(1, support), verdict(2, "supported", (1, "checks the sources")))]
        )
        checked = check(draft, passages(commands), verifier=ModelVerifier(model))
        asked = json.loads(model.requests[0][-1].content)["claims"][0]
        assert asked["stands_under"] == "This minifies the sources:"
        assert ("npm run lint" in checked.text) is stays, support
        assert ("This minifies" in checked.text) is stays, support
