"""How one server wants its requests: what the vendor documents, and what its refusals teach."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_core.agent.model_events import ToolChoice, ToolSpec
from rag_core.conversation.message import Message

MAX_LESSONS = 6
"""Refusals of one request that are learnt from; then the refusal stands."""
REMEMBERED_CALLS = 1_000
LENGTH_FIELDS = ("max_completion_tokens", "max_tokens")
OPTIONAL_FIELDS = ("temperature", "stream_options", "parallel_tool_calls")
SCHEMA_REFUSED = re.compile(
    r"\bstrict\b|additional_?properties|\bschema\b|function_declarations|proto field", re.IGNORECASE
)
"""How servers name a tool whose description is more than they understand."""
NO_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Gemini documents for a tool call that it did not make itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What is known of a vendor before the first request."""

    length_field: str = "max_tokens"
    has_plain_tools: bool = False
    """Whether tools are described by single types, without `strict`."""
    signs_tool_calls: bool = False
    """Whether a tool call is refused that comes back without its signature."""


class Dialect:
    """Writes requests as one server takes them, and remembers what it refused."""

    def __init__(self, habits: Habits | None = None) -> None:
        habits = habits or Habits()
        self._dropped: set[str] = set()
        self._length_fields = sorted(LENGTH_FIELDS, key=lambda name: name != habits.length_field)
        self._has_plain_tools = habits.has_plain_tools
        self._signs = habits.signs_tool_calls
        self._may_require = True
        self._may_forbid = True
        self._extras: OrderedDict[str, Any] = OrderedDict()

    def request(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice,
        temperature: float,
        max_tokens: int | None,
    ) -> dict[str, Any]:
        """The body of a request, without what the server is known to refuse."""
        request: dict[str, Any] = {
            "model": model,
            "messages": [self._message(message) for message in messages],
            "temperature": temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools and (tool_choice is not ToolChoice.NONE or self._may_forbid):
            request["tools"] = [as_function(tool, plain=self._has_plain_tools) for tool in tools]
            request["tool_choice"] = tool_choice.value
            if tool_choice is ToolChoice.REQUIRED and not self._may_require:
                request["tool_choice"] = ToolChoice.AUTO.value
        if max_tokens is not None and self._length_fields:
            request[self._length_fields[0]] = max_tokens
        return {name: value for name, value in request.items() if name not in self._dropped}

    def learn(self, refusal: str, request: Mapping[str, Any]) -> None:
        """Leave out from now on what the refusal of this request names."""
        for name in OPTIONAL_FIELDS:
            if name in request and names(refusal, name):
                self._dropped.add(name)
        sent = next((name for name in LENGTH_FIELDS if name in request), None)
        if sent in self._length_fields and names(refusal, sent):
            self._length_fields.remove(sent)
        if "tool_choice" in request and names(refusal, "tool_choice"):
            self._learn_choice(request["tool_choice"])
        elif "tools" in request and SCHEMA_REFUSED.search(refusal):
            self._has_plain_tools = True

    def _learn_choice(self, sent: str) -> None:
        match sent:
            case ToolChoice.REQUIRED.value:
                self._may_require = False
            case ToolChoice.NONE.value:
                self._may_forbid = False
            case _:
                self._dropped.add("tool_choice")

    def stop_forbidding(self) -> None:
        """Tools are no more sent where none may be called: the server calls them all the same."""
        self._may_forbid = False

    def remember(self, extras: Mapping[str, Any]) -> None:
        """Keep what came with tool calls and must go back with them, by their ids."""
        self._extras.update(extras)
        while len(self._extras) > REMEMBERED_CALLS:
            self._extras.popitem(last=False)

    def _message(self, message: Message) -> dict[str, Any]:
        chat = message.as_chat()
        for call in chat.get("tool_calls", ()):
            extra = self._extras.get(call["id"]) or (NO_SIGNATURE if self._signs else None)
            if extra is not None:
                call["extra_content"] = extra
        return chat


def as_function(tool: ToolSpec, *, plain: bool = False) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if plain:
        function["parameters"] = plain_schema(tool.parameters)
    else:
        function |= {"parameters": dict(tool.parameters), "strict": True}
    return {"type": "function", "function": function}


def names(refusal: str, field: str) -> bool:
    return re.search(rf"(?<![\w-]){field}(?![\w-])", refusal) is not None


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of single types: what may be null is optional."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, field in schema["properties"].items():
        kinds = [field["type"]] if isinstance(field["type"], str) else list(field["type"])
        properties[name] = {**field, "type": next(kind for kind in kinds if kind != "null")}
        if "null" not in kinds:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}
