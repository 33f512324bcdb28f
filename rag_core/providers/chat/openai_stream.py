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
from rag_core.text.visible import visible

SERVICE = "openai"
MAX_ARGUMENTS = 20_000
MAX_CALLS = 32

REASONS = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
}
"""Any other reason, such as `error`, is no complete reply."""

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


def text_in(content: object) -> str:
    """The text of a delta; some servers send it in parts, of which some are reasoning."""
    if isinstance(content, str):
        return content
    texts = (at(part, "text") for part in sequence(content) if at(part, "type") == "text")
    return "".join(text for text in texts if isinstance(text, str))


def sequence(part: object) -> Sequence[Any]:
    return part if isinstance(part, list) else ()


class Assembly:
    """What has come of one reply so far.

    Servers differ in what they leave out; everything is read as if it may be missing or wrong."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._pieces: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._extra: dict[int, Any] = {}
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

    @property
    def only_calls(self) -> bool:
        return bool(self._calls) and not visible("".join(self._pieces)).strip()

    @property
    def extras(self) -> Mapping[str, Any]:
        """What must go back with the tool calls, by their ids."""
        return {self._calls[index]["id"]: extra for index, extra in self._extra.items()}

    @property
    def fault(self) -> str:
        """What is wrong with a reply that has ended."""
        if self._known_reason is None:
            return "The language model's reply ended for an unknown reason."
        return "The language model's reply was empty."

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Take one piece in; its text, if it has any. What a model reasons is not taken in."""
        if chunk.get("usage"):  # hardly any piece has it, and they come by the thousand
            self._read_usage(chunk["usage"])
        choices = sequence(chunk.get("choices"))
        if not choices or self.has_ended:
            return ""
        choice = choices[0]
        delta = at(choice, "delta")
        text = text_in(at(delta, "content"))
        if at(delta, "refusal"):
            self._is_refused = True
        for call in sequence(at(delta, "tool_calls")):
            self._read_call(call)
        reason = at(choice, "finish_reason")
        self._reason = reason if isinstance(reason, str) and reason else None
        if text:
            self._pieces.append(text)
        return text

    def _read_call(self, call: Any) -> None:
        index = at(call, "index")
        identity = at(call, "id") or ""
        known = self._calls.get(index) if isinstance(index, int) else None
        is_other = known is not None and identity and known["id"] not in {"", identity}
        if not isinstance(index, int) or is_other:
            # Some servers send calls whole, without an index, or all of them with the same one.
            index = len(self._calls) if identity or not self._calls else max(self._calls)
        parts = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        if (extra := at(call, "extra_content")) is not None:
            self._extra[index] = extra
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
        reason = FinishReason.FILTERED if self._is_refused else self._known_reason
        if reason is None:
            raise UpstreamUnavailable(SERVICE, "a reply that ended for an unknown reason")
        if reason is FinishReason.STOP and not visible(text).strip():
            raise UpstreamUnavailable(SERVICE, "an empty reply")
        for parts in self._calls.values():
            parts["id"] = parts["id"] or f"call_{uuid4().hex[:24]}"
        prompt, completion = self._usage or self._estimate(text)
        return Finished(
            reason=reason,
            tool_calls=self._tool_calls() if reason is FinishReason.TOOL_CALLS else (),
            prompt_tokens=prompt,
            completion_tokens=completion,
        )

    @property
    def _known_reason(self) -> FinishReason | None:
        """Why the reply ended; some servers say `stop` where the model calls a tool."""
        known = REASONS.get((self._reason or "").lower())
        if known in {FinishReason.STOP, FinishReason.TOOL_CALLS}:
            return FinishReason.TOOL_CALLS if self._calls else FinishReason.STOP
        return known

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(
                id=parts["id"],
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
