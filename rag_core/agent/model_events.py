"""What passes between the agent and a chat model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rag_core.conversation.message import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema, strict: all required, nothing else accepted."""


class ToolChoice(StrEnum):
    """Whether the model may, must or must not call a tool in this round."""

    AUTO = "auto"
    REQUIRED = "required"
    NONE = "none"


class FinishReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    FILTERED = "content_filter"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next few characters of the reply."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The end of a reply: nothing counts as complete without it."""

    reason: FinishReason
    tool_calls: tuple[ToolCall, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Restarted:
    """The connection was lost and the reply begins anew: text that came so far is void."""


ModelEvent = TextDelta | Restarted | Finished
