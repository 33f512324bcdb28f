"""The bounded loop between model and tool: search first, then write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from rag_core.agent.model_events import (
    Finished,
    FinishReason,
    Restarted,
    TextDelta,
    ToolChoice,
)
from rag_core.agent.teller import Teller
from rag_core.agent.thinking import AnswerText
from rag_core.agent.tool import RetrievalTool, Search
from rag_core.agent.tool_contract import (
    READ_NAME,
    TOOL_NAME,
    TOOLS,
    ToolArguments,
    ToolResponse,
)
from rag_core.conversation.message import Message, ToolCall
from rag_core.desk.progress import QuestionState
from rag_core.errors import ModelBehaviourError
from rag_core.ports import ChatModel
from rag_core.text.visible import visible

MAX_ROUNDS = 3
MAX_CALLS = 4
"""Searches that one round may ask for at once."""
MAX_TEXT = 40_000
"""A reply longer than this is no answer but a model that does not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said in one round."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What came of the loop: a text that nobody has checked yet, and how it came about."""

    text: str
    spoken: tuple[Message, ...]
    tokens: int


class Loop:
    """Asks one model for one answer, with the tool at its hand."""

    def __init__(
        self,
        *,
        model: ChatModel,
        temperature: float,
        max_tokens: int | None,
        now: Callable[[], datetime],
    ) -> None:
        self._model = model
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._now = now

    async def run(
        self,
        prompt: Sequence[Message],
        *,
        question: str,
        tool: RetrievalTool,
        teller: Teller,
    ) -> Draft:
        """The draft; its text is empty where the evidence does not suffice to write one.

        `question` is searched for where the model makes no search of its own that can be used."""
        spoken: list[Message] = []
        tokens, enough = 0, False
        teller.stage(QuestionState.RETRIEVING)
        for number in range(1, MAX_ROUNDS + 1):
            is_last = number == MAX_ROUNDS
            choice = ToolChoice.NONE if is_last else ToolChoice.AUTO
            if not enough:
                choice = ToolChoice.REQUIRED
            reply = await self._reply([*prompt, *spoken], choice, tool, teller)
            tokens += reply.tokens
            calls = reply.tool_calls
            if not calls and not tool.records:  # a server may ignore `required`
                calls = (search_for(question),)
            if not calls:
                return Draft(text=reply.text if enough else "", spoken=tuple(spoken), tokens=tokens)
            if is_last:
                break
            spoken += await self._called(calls, tool)
            enough = bool(tool.context.results)
            if number == MAX_ROUNDS - 1 and not tool.records:  # no call of the model was usable
                spoken += await self._called((search_for(question),), tool)
                enough = bool(tool.context.results)
            if not enough and number == MAX_ROUNDS - 1:
                return Draft(text="", spoken=tuple(spoken), tokens=tokens)
            if enough:
                teller.stage(QuestionState.GENERATING)
        raise ModelBehaviourError("The language model went on searching and wrote no answer.")

    async def rewritten(
        self,
        prompt: Sequence[Message],
        draft: Draft,
        correction: Sequence[Message],
        *,
        tool: RetrievalTool,
        teller: Teller,
    ) -> Draft:
        """The draft once more, by the same evidence; the model may not search again."""
        messages = [*prompt, *draft.spoken, *correction]
        reply = await self._reply(messages, ToolChoice.NONE, tool, teller)
        return Draft(text=reply.text, spoken=draft.spoken, tokens=draft.tokens + reply.tokens)

    async def _reply(
        self, messages: Sequence[Message], choice: ToolChoice, tool: RetrievalTool, teller: Teller
    ) -> Reply:
        """One round. Text of a round that must search is not shown, and what the model thinks
        aloud never is. The tools go along in every round: some servers refuse tool messages
        without them."""
        shows = choice is not ToolChoice.REQUIRED
        ranks = frozenset(range(1, len(tool.context.results) + 1))
        if shows:
            teller.begin_text(ranks)
        answer = AnswerText()
        end: Finished | None = None
        async for event in self._model.stream(
            messages,
            tools=TOOLS,
            tool_choice=choice,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
        ):
            match event:
                case TextDelta(piece):
                    text, restart = answer.add(piece)
                    if shows and restart:
                        teller.begin_text(ranks)
                    if shows and text:
                        teller.text(text)
                case Restarted():
                    answer = AnswerText()
                    if shows:
                        teller.begin_text(ranks)
                case Finished():
                    end = event
        if (rest := answer.end()) and shows:
            teller.text(rest)
        return complete(answer.text, end, may_call=choice is not ToolChoice.NONE)

    async def _called(self, calls: Sequence[ToolCall], tool: RetrievalTool) -> list[Message]:
        """The tool calls of one round, side by side, and their results in the order asked."""
        searches = await side_by_side([*calls[:MAX_CALLS]], tool)
        messages = [Message.assistant("", at=self._now(), tool_calls=tuple(calls))]
        for call, search in zip(calls, searches, strict=False):
            messages.append(self._result(call, tool.number(search)))
        for call in calls[MAX_CALLS:]:
            refused = ToolResponse(query="", error=f"At most {MAX_CALLS} searches at once.")
            messages.append(self._result(call, refused))
        return messages

    def _result(self, call: ToolCall, response: ToolResponse) -> Message:
        return Message.tool(
            response.as_json(), name=call.name, tool_call_id=call.id, at=self._now()
        )


def complete(text: str, end: Finished | None, *, may_call: bool) -> Reply:
    """A reply that ended as it should; every other end is an error with a sentence."""
    if end is None:
        raise ModelBehaviourError("The language model's reply ended before it was complete.")
    if end.reason is FinishReason.LENGTH:
        raise ModelBehaviourError("The language model's reply was longer than it may be.")
    if end.reason is FinishReason.FILTERED:
        raise ModelBehaviourError("The language model declined to answer.")
    if len(text) > MAX_TEXT:
        raise ModelBehaviourError("The language model's reply was longer than it may be.")
    is_empty = not visible(text).strip()
    calls = end.tool_calls if may_call or is_empty else ()
    if not calls and is_empty:
        raise ModelBehaviourError("The language model's reply was empty.")
    tokens = end.prompt_tokens + end.completion_tokens
    return Reply(text=text, tool_calls=calls, tokens=tokens)


def search_for(question: str) -> ToolCall:
    """The search that every answer stands on, where the model did not make it."""
    arguments = ToolArguments.model_construct(query=question).model_dump_json()
    return ToolCall(id=f"call_{uuid4().hex[:24]}", name=TOOL_NAME, arguments=arguments)


async def side_by_side(calls: Sequence[ToolCall], tool: RetrievalTool) -> list[Search]:
    if len(calls) == 1:  # nearly always: a task of its own would wait for its turn among many
        return [await searched(calls[0], tool)]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(searched(call, tool)) for call in calls]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


async def searched(call: ToolCall, tool: RetrievalTool) -> Search:
    if call.name == TOOL_NAME:
        return await tool.search(call.arguments)
    if call.name == READ_NAME:
        return await tool.read(call.arguments)
    known = " and ".join(each.name for each in TOOLS)
    return Search(query="", error=f"There is no such tool. The tools are {known}.")
