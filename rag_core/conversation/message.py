"""One message of a thread, as it was said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model's wish to use a tool; the arguments are JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a thread; made by `system`, `user`, `assistant` or `tool`."""

    role: Role
    content: str
    timestamp: datetime
    name: str | None = None
    tool_call_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.timestamp.tzinfo is None:
            raise ValueError("a message needs a timezone-aware timestamp")
        # The rare things are looked at first: every message of a thread passes here at each read.
        if not self.content.strip() and self.role is Role.USER:
            raise ValueError("a user message is never empty")
        if (self.role is Role.TOOL) != bool(self.tool_call_id):
            raise ValueError("a tool message, and only a tool message, names its tool call")
        if self.name is not None and self.role is not Role.TOOL:
            raise ValueError("only a tool message has a name")
        if (self.tool_calls or self.confidence is not None) and self.role is not Role.ASSISTANT:
            raise ValueError("only an assistant message has tool calls or a confidence")
        if self.confidence is not None and not 0.0 <= self.confidence <= 1.0:
            raise ValueError("confidence lies between 0 and 1")

    @classmethod
    def system(cls, content: str, *, at: datetime) -> Message:
        return cls(role=Role.SYSTEM, content=content, timestamp=at)

    @classmethod
    def user(cls, content: str, *, at: datetime) -> Message:
        return cls(role=Role.USER, content=content, timestamp=at)

    @classmethod
    def assistant(
        cls,
        content: str,
        *,
        at: datetime,
        tool_calls: tuple[ToolCall, ...] = (),
        confidence: float | None = None,
    ) -> Message:
        return cls(
            role=Role.ASSISTANT,
            content=content,
            timestamp=at,
            tool_calls=tool_calls,
            confidence=confidence,
        )

    @classmethod
    def tool(cls, content: str, *, name: str, tool_call_id: str, at: datetime) -> Message:
        return cls(
            role=Role.TOOL, content=content, timestamp=at, name=name, tool_call_id=tool_call_id
        )

    def as_chat(self) -> dict[str, Any]:
        """This message in the chat API's own format, with every field that the API needs."""
        chat: dict[str, Any] = {"role": self.role.value, "content": self.content}
        if self.role is Role.TOOL:
            chat["tool_call_id"] = self.tool_call_id
        if self.tool_calls:
            chat["content"] = self.content or None
            chat["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.tool_calls
            ]
        return chat
