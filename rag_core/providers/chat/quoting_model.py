"""A chat model that needs no key: it answers in the documents' own sentences."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from uuid import uuid4

from rag_core.agent.context import is_context
from rag_core.agent.model_events import (
    Finished,
    FinishReason,
    ModelEvent,
    TextDelta,
    ToolChoice,
    ToolSpec,
)
from rag_core.agent.prompts import NOT_COVERED
from rag_core.agent.quoting.answer import quoted_answer
from rag_core.agent.quoting.pieces import QuotedPassage
from rag_core.conversation.message import Message, Role, ToolCall

MAX_QUERY = 1_000


class QuotingModel:
    """Searches for the last question, then quotes the sentences of the evidence that answer it."""

    @property
    def name(self) -> str:
        return "quoting"

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice,
        temperature: float,
        max_tokens: int | None,
    ) -> AsyncIterator[ModelEvent]:
        """A search first, where there is a tool and none was made; then the quoted answer."""
        question, results = last_exchange(messages)
        if tools and not results and tool_choice is not ToolChoice.NONE:
            yield Finished(
                reason=FinishReason.TOOL_CALLS, tool_calls=(search(tools[0].name, question),)
            )
            return
        asked = [m for m in messages if m.role is Role.USER and not is_context(m)]
        earlier = [message.content for message in asked[:-1]]
        answer = quoted_answer(question, passages_in(results), earlier)
        for piece in pieces(answer or NOT_COVERED):
            yield TextDelta(piece)
        yield Finished(reason=FinishReason.STOP)


def last_exchange(messages: Sequence[Message]) -> tuple[str, tuple[str, ...]]:
    """The last question, and what the tool said since."""
    results: list[str] = []
    for message in reversed(messages):
        if message.role is Role.USER:
            return message.content, tuple(reversed(results))
        if message.role is Role.TOOL:
            results.append(message.content)
    return "", tuple(reversed(results))


def search(tool: str, question: str) -> ToolCall:
    arguments = {
        "query": question[:MAX_QUERY],
        "top_k": None,
        "similarity_threshold": None,
        "module": None,
    }
    return ToolCall(
        id=f"call_{uuid4().hex[:24]}",
        name=tool,
        arguments=json.dumps(arguments, ensure_ascii=False),
    )


def passages_in(results: Sequence[str]) -> tuple[QuotedPassage, ...]:
    """The passages of all tool results, each rank once, best first."""
    found: dict[int, QuotedPassage] = {}
    for result in results:
        for passage in json.loads(result).get("results", ()):
            if "chunk_text" not in passage:
                continue  # handed over before
            found.setdefault(
                passage["rank"],
                QuotedPassage(
                    rank=passage["rank"],
                    text=passage["chunk_text"],
                    title=passage["page_title"],
                    heading=passage["section_heading"],
                    similarity=passage["similarity_score"],
                ),
            )
    return tuple(found[rank] for rank in sorted(found))


def pieces(answer: str) -> list[str]:
    """The answer in its lines, as it is handed over."""
    return answer.splitlines(keepends=True)
