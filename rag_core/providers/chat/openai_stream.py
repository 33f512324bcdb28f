"""Puts the pieces of a streamed chat completion together, and knows whether it is whole."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from rag_core.agent.budget import estimated_tokens, message_tokens
from rag_core.agent.model_events import Finished, FinishReason
from rag_core.conversation.message import Message, ToolCall
from rag_core.errors import UpstreamUnavailable

SERVICE = "openai"
MAX_ARGUMENTS = 20_000
MAX_CALLS = 32

REASONS = {"length": FinishReason.LENGTH, "content_filter": FinishReason.FILTERED}


DATA = b"data:"
DONE = b"[DONE]"
DECODER = json.JSONDecoder()
MAX_EVENT = 2_000_000
"""Bytes of one event; a stream without line ends is no stream of events."""


async def events_of(pieces: AsyncIterable[bytes]) -> AsyncIterator[Mapping[str, Any]]:
    """The documents of a stream of server-sent events; the mark of its end ends it.

    The vendor's own reader builds a model of each chunk, which costs more than all the rest."""
    held = b""
    async for piece in pieces:
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            data = line.strip().removeprefix(DATA).strip() if line.startswith(DATA) else b""
            if data == DONE:
                return
            if data:
                yield document_in(data)
        if len(held) > MAX_EVENT:
            raise UpstreamUnavailable(SERVICE, "an event without end")


def document_in(data: bytes) -> Mapping[str, Any]:
    """One event's document; an error told within the stream is one."""
    try:
        document = DECODER.decode(data.decode())
    except (ValueError, RecursionError) as error:
        raise UpstreamUnavailable(SERVICE, "an answer that cannot be read") from error
    if not isinstance(document, dict) or document.get("error"):
        raise UpstreamUnavailable(SERVICE, "an answer that cannot be read")
    return document


def at(part: object, name: str) -> Any:
    """A field of what may be anything."""
    return part.get(name) if isinstance(part, dict) else None


def sequence(part: object) -> Sequence[Any]:
    return part if isinstance(part, list) else ()


class Assembly:
    """What has come of one reply so far.

    Servers differ in what they leave out; everything is read as if it may be missing or wrong."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._pieces: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._reason: str | None = None
        self._is_refused = False
        self._usage: tuple[int, int] | None = None

    @property
    def has_text(self) -> bool:
        return bool(self._pieces)

    @property
    def has_ended(self) -> bool:
        """Whether the reply's own end has come."""
        return self._reason is not None

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Take one piece in; its text, if it has any."""
        if chunk.get("usage"):  # hardly any piece has it, and they come by the thousand
            self._read_usage(chunk["usage"])
        choices = sequence(chunk.get("choices"))
        if not choices or self.has_ended:
            return ""
        choice = choices[0]
        delta = at(choice, "delta")
        text = at(delta, "content")
        if at(delta, "refusal"):
            self._is_refused = True
        for call in sequence(at(delta, "tool_calls")):
            self._read_call(call)
        reason = at(choice, "finish_reason")
        self._reason = reason if isinstance(reason, str) and reason else None
        if not isinstance(text, str) or not text:
            return ""
        self._pieces.append(text)
        return text

    def _read_call(self, call: Any) -> None:
        index = at(call, "index")
        identity = at(call, "id") or ""
        if not isinstance(index, int):  # some servers send calls whole, without an index
            index = len(self._calls) if identity or not self._calls else max(self._calls)
        parts = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        function = at(call, "function")
        parts["id"] = parts["id"] or str(identity)
        parts["name"] += str(at(function, "name") or "")
        parts["arguments"] += str(at(function, "arguments") or "")
        if len(parts["arguments"]) > MAX_ARGUMENTS or len(self._calls) > MAX_CALLS:
            raise UpstreamUnavailable(SERVICE, "a tool call without end")

    def _read_usage(self, usage: Any) -> None:
        prompt = at(usage, "prompt_tokens")
        completion = at(usage, "completion_tokens")
        if isinstance(prompt, int) and isinstance(completion, int):
            self._usage = (max(0, prompt), max(0, completion))

    def finished(self) -> Finished:
        """The end of a whole reply. A stream that stopped before it was whole is a failure."""
        if self._reason is None:
            raise UpstreamUnavailable(SERVICE, "a reply that was cut")
        text = "".join(self._pieces)
        reason = FinishReason.FILTERED if self._is_refused else self._finish_reason()
        if reason is FinishReason.STOP and not text.strip():
            raise UpstreamUnavailable(SERVICE, "an empty reply")
        prompt, completion = self._usage or self._estimate(text)
        return Finished(
            reason=reason,
            tool_calls=self._tool_calls() if reason is FinishReason.TOOL_CALLS else (),
            prompt_tokens=prompt,
            completion_tokens=completion,
        )

    def _finish_reason(self) -> FinishReason:
        known = REASONS.get(self._reason or "")
        if known is not None:
            return known
        return FinishReason.TOOL_CALLS if self._calls else FinishReason.STOP

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(
                id=parts["id"] or f"call_{uuid4().hex[:24]}",
                name=parts["name"],
                arguments=parts["arguments"] or "{}",
            )
            for _, parts in sorted(self._calls.items())
        )

    def _estimate(self, text: str) -> tuple[int, int]:
        """Tokens as they are guessed where the server reports none."""
        prompt = sum(map(message_tokens, self._messages))
        said = text + "".join(part["arguments"] for part in self._calls.values())
        return prompt, estimated_tokens(said)
