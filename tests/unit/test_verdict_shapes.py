"""The verdicts of real models count, however their replies are shaped."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.agent.model_events import FinishReason
from rag_core.agent.verification.anchors import find_anchor, is_telling
from rag_core.agent.verification.claims import Claim, Passage, Support
from rag_core.agent.verification.model import REPORT, ModelVerifier, parse_verdicts
from tests.fakes.checked_drafts import check, passages
from tests.fakes.scripted_model import Ending, Scripted, ScriptedModel, Searching

GUESTS = "Guests can read public channels. Guests cannot post messages unless the owner agrees."
LIMITS = "The daily limit is 10 uploads. Files larger than 25 MB are not accepted."
DRAFT = "Guests may not write unless the owner agrees [1]. Big files are refused [2]."
KEPT = "Guests may not write unless the owner agrees [1]."

WORDS = "cannot post messages unless the owner agrees"
GOOD: dict[str, Any] = {
    "claim": 1,
    "verdict": "supported",
    "words": [{"passage": 1, "text": WORDS}],
    "reason": "",
}
WRONG: dict[str, Any] = {
    "claim": 2,
    "verdict": "contradicted",
    "words": [],
    "reason": "Up to 25 MB are accepted.",
}


def reply(first: dict[str, Any], second: dict[str, Any]) -> str:
    return json.dumps({"verdicts": [GOOD | first, WRONG | second]})


def calls(*arguments: str) -> Searching:
    return Searching(arguments=arguments, tool=REPORT.name)


SHAPES: dict[str, Scripted] = {
    "verdict in capitals": reply({"verdict": "Supported"}, {"verdict": "CONTRADICTED."}),
    "names in capitals": reply({}, {})
    .replace('"verdict":', '"Verdict":')
    .replace("claim", "Claim"),
    "nulls": reply({"reason": None}, {"words": None}),
    "a list for a reason": reply({"reason": []}, {"words": "none"}),
    "fields left out": json.dumps(
        [{key: GOOD[key] for key in ("claim", "verdict", "words")}, {**WRONG, "words": {}}]
    ),
    "words as text": reply({"words": [WORDS]}, {}),
    "words as one text": reply({"words": WORDS}, {}),
    "words as one object": reply({"words": {"passage": 1, "text": WORDS}}, {}),
    "words among odd things": reply({"words": [7, None, {"passage": 1}, WORDS]}, {}),
    "numbers in brackets": reply(
        {"claim": "[1]", "words": [{"passage": "[1]", "text": WORDS}]}, {"claim": "claim 2"}
    ),
    "numbers with a point": reply({"claim": 1.0}, {"claim": 2.0}),
    "a passage without a number": reply(
        {"words": [{"passage": "the handbook", "text": WORDS}]}, {}
    ),
    "an object a line": f"{json.dumps(GOOD)}\n{json.dumps(WRONG)}\n",
    "an object a call": calls(json.dumps(GOOD), json.dumps(WRONG)),
    "text beside an empty call": Searching(text=reply({}, {}), arguments=("{}",), tool=REPORT.name),
    "verdicts as a string": json.dumps({"verdicts": json.dumps([GOOD, WRONG])}),
    "verdicts by number": json.dumps({"verdicts": {"1": GOOD, "2": WRONG}}),
    "by number alone": json.dumps(
        {
            "claim 1": {key: GOOD[key] for key in ("verdict", "words", "reason")},
            "2": [{key: WRONG[key] for key in ("verdict", "words", "reason")}],
        }
    ),
    "under another name": json.dumps({"result": {"answers": [GOOD, WRONG]}}),
    "numbered from 0": reply({"claim": 0}, {"claim": 1}),
}


@pytest.mark.parametrize("said", SHAPES.values(), ids=SHAPES)
def test_verdicts_count_whatever_their_shape(said: Scripted) -> None:
    model = ScriptedModel([said])
    checked = check(DRAFT, passages(GUESTS, LIMITS), verifier=ModelVerifier(model))
    assert checked.checked_by == "model"
    assert checked.text == KEPT
    assert [mark.quote for mark in checked.marks] == [WORDS]
    (removed,) = checked.removed
    assert removed.text == "Big files are refused."


@pytest.mark.parametrize("verdict", ["not found", "Not-Found", "not supported", "Unsupported"])
def test_a_claim_that_is_not_supported_in_other_words_is_marked(verdict: str) -> None:
    said = reply({}, {"verdict": verdict})
    checked = check(DRAFT, passages(GUESTS, LIMITS), verifier=ModelVerifier(ScriptedModel([said])))
    assert checked.checked_by == "model"
    assert [each.text for each in checked.unfound] == ["Big files are refused."]


def test_one_object_is_the_verdict_of_one_claim() -> None:
    draft = "Guests may not write unless the owner agrees [1]."
    model = ScriptedModel([json.dumps({**GOOD, "verdict": "not_found"})])
    checked = check(draft, passages(GUESTS, LIMITS), verifier=ModelVerifier(model))
    assert checked.checked_by == "model"
    assert checked.unfound


CUT = reply({}, {})[:-20]


@pytest.mark.parametrize(
    "said",
    [
        json.dumps({"verdicts": [{**GOOD, "verdict": "not_found"}]}),
        Ending(CUT.replace("supported", "not_found"), FinishReason.LENGTH),
        Ending(CUT.replace("supported", "not_found"), None),
        reply({"verdict": "not_found"}, {"verdict": "perhaps"}),
        reply({"verdict": "not_found"}, {"claim": "Big files are refused."}),
        reply({"verdict": "not_found"}, {"claim": 7}),
    ],
    ids=["left out", "cut by length", "cut off", "unknown", "no number", "unknown number"],
)
def test_a_claim_without_a_verdict_takes_no_other_with_it(said: Scripted) -> None:
    """Code judges the one that is missing, and the answer says so."""
    checked = check(DRAFT, passages(GUESTS, LIMITS), verifier=ModelVerifier(ScriptedModel([said])))
    assert [each.text for each in checked.unfound] == [
        "Guests may not write unless the owner agrees."
    ]
    assert "Big files are refused [1]." in checked.text
    assert checked.checked_by == "model (code for 1 of 2 sentences, which it left out)"


def test_a_reason_holds_nothing_that_cannot_be_stored() -> None:
    said = reply({}, {"reason": "Up to\x00 25\u200b MB\ud83d."})
    checked = check(DRAFT, passages(GUESTS, LIMITS), verifier=ModelVerifier(ScriptedModel([said])))
    assert [each.reason for each in checked.removed] == ["Up to 25 MB."]


def test_a_reply_of_nothing_but_brackets_has_no_verdict() -> None:
    claim = Claim(text="Guests may write.", passages=[Passage(rank=1, text=GUESTS)])
    assert parse_verdicts("[" * 50_000, [claim]) == [None]
    assert parse_verdicts('{"a":' * 400 + "1", [claim]) == [None]
    assert parse_verdicts('{"a":' * 400 + "1" + "}" * 400, [claim]) == [None]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["verdicts", "claim", "verdict", "words", "text", "reason", "1"]), inner
        )
    ),
)


@given(st.builds(json.dumps, JSON) | st.text('{}[]",:1 claimverdt'))
def test_no_reply_is_an_error(said: str) -> None:
    claim = Claim(text="Guests may write.", passages=[Passage(rank=1, text=GUESTS)])
    assert len(parse_verdicts(said, [claim])) == 1


ROW = "| Structured" + " " * 80 + "| Semi-structured" + " " * 40 + "| Unstructured |"
TABLE = f"Kinds of data:\n\n{ROW}\n|{'-' * 92}|{'-' * 58}|{'-' * 14}|\n| List of people | | Books |"
ADDRESS = 'https://docs.example/a_(b)/guide.html "Guide"'
LINKED = f"See the [guide]({ADDRESS}) for guests. The\n[owner](../people.md#owner) agrees."


@pytest.mark.parametrize(
    ("words", "passage", "found"),
    [
        (ROW, TABLE, "Structured | Semi-structured | Unstructured"),
        ("Structured | Semi-structured", TABLE, "Structured | Semi-structured"),
        ("| List of people | | Books |", TABLE, "List of people | | Books"),
        ("for guests. The owner", LINKED, "for guests. The [owner"),
        ("The owner agrees", LINKED, "The [owner](../people.md#owner) agrees"),
        ("See the guide for guests", LINKED, f"See the [guide]({ADDRESS}) for guests"),
        ("[owner](../people.md#owner) agrees", LINKED, "owner](../people.md#owner) agrees"),
        ("Guests can … unless the owner agrees", GUESTS, "unless the owner agrees"),
        ("Guests can read ... owner agrees…", GUESTS, "Guests can read"),
        ("Guests can read … and write", GUESTS, ""),
        ("for (a, ...rest) of all", "for (a, ...rest) of all", "for (a, ...rest) of all"),
        ("… …", GUESTS, ""),
    ],
)
def test_words_are_found_across_wide_cells_addresses_and_gaps(
    words: str, passage: str, found: str
) -> None:
    assert find_anchor(words, passage) == found


@pytest.mark.parametrize(
    ("words", "claim", "tells"),
    [
        ("the", "The owner agrees.", False),
        ("owner", "The owner agrees.", False),
        ("of the", "One of the owners agrees.", False),
        ("owner agrees", "The owner says yes.", True),
        ("25", "Up to 25 MB.", True),
        ("26", "Up to 25 MB.", False),
        ("SIGTERM", "It ends at SIGTERM.", True),
        ("`npm`", "Use `npm` for it.", True),
        ("npm", "Use it.", False),
        ("保留30天", "Backups stay for 30 days.", True),
        ("✅", "It is there.", False),
    ],
)
def test_one_word_backs_a_claim_only_as_a_name_or_number_in_it(
    words: str, claim: str, tells: bool
) -> None:
    assert is_telling(words, claim) is tells


def test_a_small_word_makes_no_claim_supported() -> None:
    said = reply({"words": [{"passage": 1, "text": "the"}]}, {})
    checked = check(DRAFT, passages(GUESTS, LIMITS), verifier=ModelVerifier(ScriptedModel([said])))
    assert [each.text for each in checked.unfound] == [
        "Guests may not write unless the owner agrees."
    ]


def test_words_without_a_passage_are_looked_for_where_the_claim_cites() -> None:
    same = "Files larger than 25 MB are not accepted."
    evidence = [Passage(rank=1, text=same), Passage(rank=2, text=same)]
    claim = Claim(text="Big files are refused.", passages=evidence[1:], evidence=evidence)
    (verdict,) = parse_verdicts(json.dumps({**GOOD, "words": ["25 MB are not accepted"]}), [claim])
    assert verdict is not None
    assert verdict.support is Support.SUPPORTED
    assert verdict.quotes == {2: "25 MB are not accepted"}


def test_a_passage_is_named_by_its_headings_alone() -> None:
    for headings, named in (
        ("Handbook\nGuests", "Handbook › Guests"),
        ("Handbook\n", "Handbook"),
        ("Guests\nGuests", "Guests"),
        ("", ""),
    ):
        model = ScriptedModel([json.dumps(GOOD)])
        passage = Passage(rank=1, text=GUESTS, headings=headings)
        asyncio.run(ModelVerifier(model).verify([Claim(text="Guests post.", passages=[passage])]))
        (request,) = model.requests
        assert json.loads(request[-1].content)["passages"][0]["section"] == named


@pytest.mark.parametrize("said", [json.dumps([GOOD, WRONG]), "I cannot say."])
def test_the_tokens_of_the_check_are_counted(said: str) -> None:
    checked = check(DRAFT, passages(GUESTS, LIMITS), verifier=ModelVerifier(ScriptedModel([said])))
    assert checked.tokens == 120
