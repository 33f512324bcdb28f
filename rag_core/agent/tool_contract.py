"""The words between the model and its tool: schema, arguments, result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_core.agent.model_events import ToolSpec

TOOL_NAME = "retrieve_documentation"
MAX_TOOL_TOP_K = 20
MAX_QUERY = 1_000

RETRIEVE = ToolSpec(
    name=TOOL_NAME,
    description=(
        "Search the documents. Returns passages with their rank, which is the number to cite."
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


class ToolArguments(BaseModel):
    """The arguments as the model wrote them."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

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

    def as_document(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResponse:
    """What the model hears of one search: passages, or an error that it can act on."""

    query: str
    results: tuple[Passage, ...] = ()
    error: str | None = None

    def as_json(self) -> str:
        if self.error is not None:
            return json.dumps({"error": self.error, "query": self.query}, ensure_ascii=False)
        found: dict[str, Any] = {
            "results": [passage.as_document() for passage in self.results],
            "total_results": len(self.results),
            "query": self.query,
        }
        return json.dumps(found, ensure_ascii=False)


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
