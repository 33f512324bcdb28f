"""What the agent may do, and its bounds."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.agent.prompts import SYSTEM_PROMPT
from rag_core.conversation.question import MAX_TOP_K, MIN_TOP_K
from rag_core.errors import ConfigurationError
from rag_core.retrieval.query import DEFAULT_LIMIT

PROFILES = ("calibrated", "simple", "strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """The settings of the agent; every value is inside its bounds."""

    model: str = "gpt-4o-mini"
    temperature: float = 0.1
    max_tokens: int | None = None
    top_k: int = DEFAULT_LIMIT
    score_threshold: float = 0.0
    max_turns: int = 50
    system_prompt: str = SYSTEM_PROMPT
    answer_seconds: float = 60.0
    profile: str = "calibrated"
    rewrites: bool = False
    """Whether a draft with unsupported sentences is written once more. A model that quotes would
    only say the same again."""
    prompt_tokens: int = 16_000
    """What one request to the model may hold: half for the thread, half for the evidence."""

    def __post_init__(self) -> None:
        if not self.model.strip() or not self.system_prompt.strip():
            raise ConfigurationError("The agent needs the name of a model and a system prompt.")
        if self.profile not in PROFILES:
            known = ", ".join(PROFILES)
            raise ConfigurationError(f"profile was {self.profile!r}; it is one of {known}.")
        within("temperature", self.temperature, 0.0, 1.0)
        within("top_k", self.top_k, MIN_TOP_K, MAX_TOP_K)
        within("score_threshold", self.score_threshold, 0.0, 1.0)
        within("max_turns", self.max_turns, 1, 1_000)
        within("answer_seconds", self.answer_seconds, 0.0, 600.0)
        within("prompt_tokens", self.prompt_tokens, 2_000, 1_000_000)
        if self.max_tokens is not None:
            within("max_tokens", self.max_tokens, 1, 1_000_000)


def within(name: str, value: float, low: float, high: float) -> None:
    """Refuse a value outside its bounds, naming it and the bounds."""
    if not low <= value <= high:
        raise ConfigurationError(f"{name} was {value}; it must be between {low:g} and {high:g}.")
