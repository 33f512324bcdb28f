"""Who runs an embedding model, by the name that an index remembers."""

from __future__ import annotations

from typing import Literal

LOCAL_MODEL = "granite-embedding-30m-english-int8"
"""The local model of new indexes."""
FORMER_LOCAL_MODEL = "all-MiniLM-L6-v2-int8"
"""Indexes that were built with it keep it until they are built anew."""
LOCAL_MODELS = frozenset({LOCAL_MODEL, FORMER_LOCAL_MODEL})
WAY_OF_READING = 2
"""Counts how local models were given long texts; their vectors can be compared all the same."""
COHERE_PREFIX = "embed-"

Runner = Literal["local", "cohere", "openai"]


def runner_of(model: str) -> Runner:
    """All names but ours and Cohere's may stand for a model of an OpenAI-compatible server."""
    if model in LOCAL_MODELS:
        return "local"
    return "cohere" if model.startswith(COHERE_PREFIX) else "openai"
