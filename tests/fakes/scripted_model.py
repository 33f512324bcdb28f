"""A chat model that says what it is told to say, piece by piece."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from rag_core.agent.model_events import (
    Finished,
    FinishReason,
    ModelEvent,
    Restarted,
    TextDelta,
    ToolChoice,
    ToolSpec,
)
from rag_core.conversation.message import Message, ToolCall

PIECE = 7
"""Characters a delta, so that links and markers are cut in the middle."""


@dataclass(frozen=True)
class Searching:
    """A reply that asks for searches."""

    queries: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    tool: str = "retrieve_documentation"
    text: str = ""


def search(*queries: str) -> Searching:
    return Searching(queries=queries)


@dataclass(frozen=True)
class Ending:
    """A reply that ends otherwise than it should."""

    text: str
    reason: FinishReason | None


@dataclass(frozen=True)
class CutOnce:
    """A reply that is lost after some text and then begins anew."""

    lost: str
    text: str


Scripted = str | Searching | Ending | CutOnce | Exception


@dataclass
class ScriptedModel:
    """Plays its replies in order and keeps what it was asked; too many questions are an error."""

    replies: Sequence[Scripted]
    seconds: float = 0.0
    requests: list[tuple[Message, ...]] = field(default_factory=list)
    choices: list[ToolChoice] = field(default_factory=list)
    tools: list[tuple[ToolSpec, ...]] = field(default_factory=list)
    _calls: count[int] = field(default_factory=lambda: count(1))

    @property
    def name(self) -> str:
        return "scripted"

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice,
        temperature: float,
        max_tokens: int | None,
    ) -> AsyncIterator[ModelEvent]:
        self.requests.append(tuple(messages))
        self.choices.append(tool_choice)
        self.tools.append(tuple(tools))
        if len(self.requests) > len(self.replies):
            raise AssertionError("the model was asked once more than the script has replies")
        reply = self.replies[len(self.requests) - 1]
        await asyncio.sleep(self.seconds)
        async for event in self._played(reply):
            yield event

    async def _played(self, reply: Scripted) -> AsyncIterator[ModelEvent]:
        match reply:
            case Exception():
                raise reply
            case str():
                for delta in deltas(reply):
                    await asyncio.sleep(0)
                    yield delta
                yield Finished(reason=FinishReason.STOP, prompt_tokens=100, completion_tokens=20)
            case CutOnce(lost, text):
                for delta in deltas(lost):
                    await asyncio.sleep(0)
                    yield delta
                yield Restarted()
                for delta in deltas(text):
                    await asyncio.sleep(0)
                    yield delta
                yield Finished(reason=FinishReason.STOP)
            case Ending(text, reason):
                for delta in deltas(text):
                    yield delta
                if reason is not None:
                    yield Finished(reason=reason)
            case Searching():
                for delta in deltas(reply.text):
                    yield delta
                yield Finished(
                    reason=FinishReason.TOOL_CALLS,
                    tool_calls=self._tool_calls(reply),
                    prompt_tokens=50,
                    completion_tokens=10,
                )

    def _tool_calls(self, reply: Searching) -> tuple[ToolCall, ...]:
        asked = [
            json.dumps({"query": q, "top_k": None, "similarity_threshold": None, "module": None})
            for q in reply.queries
        ]
        return tuple(
            ToolCall(id=f"call_{next(self._calls)}", name=reply.tool, arguments=arguments)
            for arguments in [*asked, *reply.arguments]
        )


def deltas(text: str) -> list[TextDelta]:
    return [TextDelta(text[at : at + PIECE]) for at in range(0, len(text), PIECE)]
