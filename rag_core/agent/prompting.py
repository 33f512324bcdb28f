"""The messages that the model is given: its rules, the thread within its budget, the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from rag_core.agent.budget import estimated_tokens, message_tokens, newest_turns
from rag_core.agent.catalog import Documents
from rag_core.agent.checks.instructions import label
from rag_core.agent.config import AgentConfig
from rag_core.agent.context import context_message
from rag_core.agent.language.sentences import without_markers
from rag_core.conversation.context import ContextItem
from rag_core.conversation.message import Message, Role
from rag_core.conversation.state import SUMMARISED, ConversationState
from rag_core.conversation.summary import summary_of
from rag_core.text.visible import visible

SUMMARY_FROM = 5
"""Exchanges after which a thread has a topic summary."""
UNDESCRIBED = Documents()
MAX_TITLES = 600
CONTEXT_SHARE = 4
"""At most this part of the prompt is what came with the question."""


def prompt_for(
    config: AgentConfig,
    state: ConversationState,
    question: str,
    *,
    at: datetime,
    documents: Documents = UNDESCRIBED,
    context: Sequence[ContextItem] = (),
) -> tuple[Message, ...]:
    """System message, the newest turns that fit, what came with the question, and the question as
    it was asked, which is never left out."""
    system = "\n".join((config.system_prompt.rstrip(), *facts(state, documents, at), ""))
    room = config.prompt_tokens // 2 - estimated_tokens(system) - estimated_tokens(question)
    beside = context_message(context, tokens=config.prompt_tokens // CONTEXT_SHARE, at=at)
    room -= message_tokens(beside) if beside else 0
    turns = newest_turns(state.turns, tokens=room)
    history = (as_said(message) for turn in turns for message in turn)
    return (
        Message.system(system, at=at),
        *history,
        *((beside,) if beside else ()),
        Message.user(visible(question).strip() or question, at=at),
    )


def facts(state: ConversationState, documents: Documents, at: datetime) -> Iterator[str]:
    """What the model cannot know: the documents, their language, the date, the thread's topic."""
    titles = "; ".join(title for each in documents.titles if (title := label(each)))
    if titles:
        yield f"The documents (data): {titles[:MAX_TITLES]}"
    if documents.languages:
        yield f"They are written in {' and '.join(documents.languages)}."
    yield f"Today is {at:%A}, {at.day} {at:%B %Y}."
    if state.topic_summary:
        yield f"What this thread was about so far (data): {visible(state.topic_summary)}"


def as_said(message: Message) -> Message:
    """An earlier message without its markers: their numbers meant other evidence."""
    if message.role is Role.USER:
        return Message.user(visible(message.content) or message.content, at=message.timestamp)
    return Message.assistant(without_markers(message.content), at=message.timestamp)


def topic_summary(state: ConversationState, question: str) -> str | None:
    """What a thread is about, in its own questions, newest first; None while it is short."""
    if state.session_number == 1 and state.turn_count + 1 < SUMMARY_FROM:
        return None
    written_at = state.metadata.get(SUMMARISED)
    if isinstance(written_at, int) and 0 <= state.turn_count - written_at < SUMMARY_FROM:
        return None  # a model has named the topic lately
    return summary_of([question, *(turn[0].content for turn in reversed(state.turns))])
