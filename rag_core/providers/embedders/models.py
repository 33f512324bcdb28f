"""Who runs an embedding model, by the name that an index remembers."""

from __future__ import annotations

from typing import Literal

LOCAL_MODEL = "all-MiniLM-L6-v2-int8"
WAY_OF_READING = 2
"""Counts how the local model was given long texts; its vectors can be compared all the same."""
COHERE_PREFIX = "embed-"

Runner = Literal["local", "cohere", "openai"]


def runner_of(model: str) -> Runner:
    """All names but ours and Cohere's may stand for a model of an OpenAI-compatible server."""
    if model == LOCAL_MODEL:
        return "local"
    return "cohere" if model.startswith(COHERE_PREFIX) else "openai"
