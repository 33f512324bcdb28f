"""Where a chat model is served, and what its vendor documents of the OpenAI-compatible door."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.providers.chat.dialect import Habits

VENDOR_URL = "https://api.openai.com/v1/"
ANTHROPIC_URL = "https://api.anthropic.com/v1/"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/openai/"
OLLAMA_URL = "http://127.0.0.1:11434/v1/"

USUAL_HABITS = Habits()
OPENAI_HABITS = Habits(length_field="max_completion_tokens")
"""The vendor's newer models refuse `max_tokens`, which many other servers want."""
GEMINI_HABITS = Habits(has_plain_tools=True, signs_tool_calls=True)
"""Its schemas know no lists of types, and its tool calls come with a signature to send back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a chat model is served, and by which name."""

    model: str
    api_key: str = ""
    base_url: str = VENDOR_URL
    habits: Habits = USUAL_HABITS
    api_version: str | None = None
    """Named by Azure alone, which takes its key in a header of its own, too."""


def openai_endpoint(*, model: str, api_key: str = "", base_url: str | None = None) -> Endpoint:
    """OpenAI itself, or any server that speaks its API."""
    if base_url is None or base_url == VENDOR_URL:
        return Endpoint(model=model, api_key=api_key, habits=OPENAI_HABITS)
    return Endpoint(model=model, api_key=api_key, base_url=base_url)


def azure_endpoint(*, endpoint: str, deployment: str, api_version: str, api_key: str) -> Endpoint:
    """A deployment at Azure: it is part of the address, and its name serves as the model's."""
    return Endpoint(
        model=deployment,
        api_key=api_key,
        base_url=f"{endpoint.rstrip('/')}/openai/deployments/{deployment}/",
        habits=OPENAI_HABITS,
        api_version=api_version,
    )
