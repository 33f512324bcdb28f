"""The JSON that the model reads and writes: strict schemas, few tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_core.agent.tool_contract import TOOLS, Passage, ToolResponse

TEXT = "Grüße: see [limits](https://docs.example.com/limits) and [more](https://docs.example.com/limits)."


def a_passage(rank: int = 1, **changes: Any) -> Passage:
    fields: dict[str, Any] = {
        "chunk_text": TEXT,
        "page_title": "Handbook",
        "section_heading": "Limits",
        "source_url": "https://docs.example.com/handbook#limits",
        "similarity_score": 0.618034,
        "rank": rank,
        "after": "Guests",
    }
    return Passage(**fields | changes)


def document(*passages: Passage) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(ToolResponse(query="limits?", results=passages).as_json())
    return read


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_what_strict_mode_takes(tool: Any) -> None:
    assert tool.parameters["additionalProperties"] is False
    assert sorted(tool.parameters["required"]) == sorted(tool.parameters["properties"])
    for schema in tool.parameters["properties"].values():
        kinds = schema["type"]
        assert kinds in {"string", "integer"} if isinstance(kinds, str) else kinds[1] == "null"


def test_a_result_has_the_fields_of_the_contract() -> None:
    told = document(a_passage(), a_passage(rank=2, after="", before="Limits"))
    assert told["total_results"] == 2
    assert told["query"] == "limits?"
    first, second = told["results"]
    assert first == {
        "rank": 1,
        "page_title": "Handbook",
        "section_heading": "Limits",
        "source_url": "https://docs.example.com/handbook#limits",
        "similarity_score": 0.62,
        "beside": {"after": "Guests"},
        "chunk_text": "Grüße: see [limits](https://docs.example.com/limits) and more.",
    }
    assert second["beside"] == {"before": "Limits"}
    assert second["chunk_text"] == "Grüße: see limits and more.", "each address once"


def test_the_json_has_no_escapes_and_no_needless_spaces() -> None:
    written = ToolResponse(query="Grüße", results=(a_passage(),)).as_json()
    assert "Grüße" in written
    assert "\\u" not in written
    assert '": ' not in written.replace(TEXT, "")


def test_a_passage_that_was_handed_over_before_is_its_rank_alone() -> None:
    assert document(a_passage(rank=3, is_repeated=True))["results"] == [{"rank": 3}]


def test_an_address_stays_with_the_passage_that_has_its_text() -> None:
    told = document(a_passage(is_repeated=True), a_passage(rank=2))
    assert "https://docs.example.com/limits)" in told["results"][1]["chunk_text"]


@pytest.mark.parametrize(
    "code", ["handlers[name](event)", "m = [a](b)", "![logo](/logo.png)", "x[0](/etc/hosts)"]
)
def test_what_looks_like_a_link_in_code_stays(code: str) -> None:
    told = document(a_passage(chunk_text=f"`{code}` and `{code}`"))
    assert told["results"][0]["chunk_text"] == f"`{code}` and `{code}`"


def test_an_error_has_no_results() -> None:
    told = json.loads(ToolResponse(query="limits?", error="Nothing was read.").as_json())
    assert told == {"error": "Nothing was read.", "query": "limits?"}
