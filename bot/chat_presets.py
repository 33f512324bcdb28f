"""The vendors that FOOTNOTE_MODEL names, and which settings are missing for the one it names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from rag_core.providers.chat.dialect import Habits
from rag_core.providers.chat.endpoint import (
    ANTHROPIC_URL,
    GEMINI_HABITS,
    GEMINI_URL,
    OLLAMA_URL,
    USUAL_HABITS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A vendor's address and behaviour, and the variable of its key, if it wants one."""

    url: str
    habits: Habits = USUAL_HABITS
    key: str | None = None
    example: str


PRESETS: Mapping[str, Preset] = {
    "anthropic": Preset(url=ANTHROPIC_URL, key="ANTHROPIC_API_KEY", example="claude-sonnet-4-5"),
    "gemini": Preset(
        url=GEMINI_URL, habits=GEMINI_HABITS, key="GEMINI_API_KEY", example="gemini-2.5-flash"
    ),
    "ollama": Preset(url=OLLAMA_URL, example="qwen3:8b"),
}
AZURE = (
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_DEPLOYMENT",
    "OPENAI_API_VERSION",
    "AZURE_OPENAI_API_KEY",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatVariables:
    """The variables that decide whether the language model answers."""

    key: str
    address: str
    model: str


def variables_of(preset: str) -> ChatVariables:
    if preset == "azure":
        return ChatVariables(
            key="AZURE_OPENAI_API_KEY",
            address="AZURE_OPENAI_ENDPOINT",
            model="AZURE_OPENAI_DEPLOYMENT",
        )
    key = PRESETS[preset].key if preset in PRESETS else None
    return ChatVariables(
        key=key or "OPENAI_API_KEY", address="OPENAI_BASE_URL", model="OPENAI_MODEL"
    )


def missing_for_chat(read: Mapping[str, object], has: Collection[str]) -> Iterable[str]:
    """A sentence for each setting that the chosen language model needs and that is missing."""
    name = str(read.get("FOOTNOTE_MODEL") or "")
    if name == "openai" and not {"OPENAI_API_KEY", "OPENAI_BASE_URL"} & set(has):
        yield (
            "FOOTNOTE_MODEL is 'openai', but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set;"
            " set one of them, or FOOTNOTE_MODEL=quoting."
        )
    if name == "azure":
        for variable in AZURE:
            if variable not in has:
                yield f"FOOTNOTE_MODEL is 'azure', but {variable} is not set; set it too."
    preset = PRESETS.get(name)
    if preset is None:
        return
    has_gateway = {"OPENAI_BASE_URL", "OPENAI_API_KEY"} <= set(has)
    if preset.key and preset.key not in has and not has_gateway:
        yield f"FOOTNOTE_MODEL is {name!r}, but {preset.key} is not set; set it too."
    if "OPENAI_MODEL" not in has:
        yield (
            f"FOOTNOTE_MODEL is {name!r}, but OPENAI_MODEL is not set; set it to the model to use,"
            f" for instance {preset.example}."
        )
    if "OPENAI_BASE_URL" in has and read.get("FOOTNOTE_EMBEDDER") == "openai":
        yield (
            f"OPENAI_BASE_URL is set, and both FOOTNOTE_MODEL={name} and FOOTNOTE_EMBEDDER=openai"
            " would use it; unset it, or choose another embedder."
        )
