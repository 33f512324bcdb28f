"""The words between the model and its tools: schemas, arguments, results."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_core.agent.model_events import ToolSpec
from rag_core.retrieval.sections import Direction

TOOL_NAME = "retrieve_documentation"
READ_NAME = "read_section"
MAX_TOOL_TOP_K = 20
MAX_QUERY = 1_000

RETRIEVE = ToolSpec(
    name=TOOL_NAME,
    description=(
        "Search the documents. Returns sections with their rank, which is the number to cite; a"
        " section that you have already is named by its rank alone. `beside` names the sections"
        " before and after it on its page."
        " Use null for top_k, similarity_threshold and module unless the question needs them."
    ),
    parameters={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "What to look for, as a complete question; at least 3 characters.",
            },
            "top_k": {
                "type": ["integer", "null"],
                "description": f"How many passages, 1 to {MAX_TOOL_TOP_K}; null: the default.",
            },
            "similarity_threshold": {
                "type": ["number", "null"],
                "description": "Least similarity, 0.0 to 1.0; null: the default.",
            },
            "module": {
                "type": ["string", "null"],
                "description": "Only this module of the documents; null: all of them.",
            },
        },
        "required": ["query", "top_k", "similarity_threshold", "module"],
        "additionalProperties": False,
    },
)


READ = ToolSpec(
    name=READ_NAME,
    description=(
        "Read on in the page of a section that you have: returns the section before or after it,"
        " with a rank of its own."
    ),
    parameters={
        "type": "object",
        "properties": {
            "rank": {"type": "integer", "description": "The rank of a section that you have."},
            "direction": {
                "type": "string",
                "enum": [each.value for each in Direction],
                "description": "Which neighbour to read.",
            },
        },
        "required": ["rank", "direction"],
        "additionalProperties": False,
    },
)
TOOLS = (RETRIEVE, READ)
LINK = re.compile(
    r"(?<![\w!\])])\[(?P<words>[^\[\]\n]+)\]"
    r"\((?P<target>(?:https?://|mailto:|\.{0,2}/|#)[^()\s]+)(?:\s+\"[^\"\n]*\")?\)"
)
"""A link with an address or a path: `handlers[name](event)` is code."""


class Arguments(BaseModel):
    """What the model wrote as the arguments of a call: these fields and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ReadArguments(Arguments):
    """Where to read on."""

    rank: int
    direction: Direction = Field(strict=False)


class ToolArguments(Arguments):
    """What to search for."""

    query: str = Field(min_length=3, max_length=MAX_QUERY)
    top_k: int | None = Field(default=None, ge=1, le=MAX_TOOL_TOP_K)
    similarity_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    module: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One numbered passage, as the model reads it."""

    chunk_text: str
    page_title: str
    section_heading: str
    source_url: str
    similarity_score: float
    rank: int
    before: str = ""
    after: str = ""
    """The headings of the sections beside it."""
    is_repeated: bool = False
    """The model has it already."""

    def as_document(self) -> dict[str, Any]:
        if self.is_repeated:
            return {"rank": self.rank}
        beside = {"before": self.before, "after": self.after}
        return {
            "rank": self.rank,
            "page_title": self.page_title,
            "section_heading": self.section_heading,
            "source_url": self.source_url,
            "similarity_score": round(self.similarity_score, 2),
            "beside": {side: heading for side, heading in beside.items() if heading},
            "chunk_text": self.chunk_text,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResponse:
    """What the model hears of one search: passages, or an error that it can act on."""

    query: str
    results: tuple[Passage, ...] = ()
    error: str | None = None

    def as_json(self) -> str:
        if self.error is not None:
            return written({"error": self.error, "query": self.query})
        return written(
            {
                "results": [passage.as_document() for passage in with_links_once(self.results)],
                "total_results": len(self.results),
                "query": self.query,
            }
        )


def written(document: dict[str, Any]) -> str:
    """JSON in as few tokens as it takes."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def with_links_once(passages: Sequence[Passage]) -> list[Passage]:
    """The passages with the address of a link where it first stands, and its words alone later."""
    seen: set[str] = set()

    def once(link: re.Match[str]) -> str:
        if link["target"] in seen:
            return link["words"]
        seen.add(link["target"])
        return f"[{link['words']}]({link['target']})"

    return [
        passage
        if passage.is_repeated
        else replace(passage, chunk_text=LINK.sub(once, passage.chunk_text))
        for passage in passages
    ]


def query_of(arguments: str) -> str:
    """The query in arguments that are not acceptable otherwise, as far as there is one."""
    try:
        query = json.loads(arguments)["query"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return query[:MAX_QUERY] if isinstance(query, str) else ""


def explained(error: ValidationError) -> str:
    """What is wrong with the arguments, in words that the model can act on."""
    faults = [
        f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False)
    ]
    return "Bad arguments. " + "; ".join(faults) + ". Call the tool again with valid arguments."
