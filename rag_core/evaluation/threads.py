"""The thread that a question of a set stands in, as the house would remember it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from rag_core.agent.agent import STANDALONE
from rag_core.agent.followup import search_text
from rag_core.conversation.key import LOCAL_TENANT, ConversationKey, Platform
from rag_core.conversation.message import Message, Role
from rag_core.conversation.state import ConversationState, Turn
from rag_core.evaluation.question_set import Said, SetQuestion

UNANSWERED = "…"
"""What stands in a thread for an answer that the set does not tell."""


def thread_before(
    question: SetQuestion | None, *, now: datetime | None = None
) -> ConversationState:
    """The conversation before a question; None: a thread that nobody has spoken in."""
    at = now or datetime.now(UTC)
    messages = alternating(question.history if question else (), at)
    return ConversationState(
        session_id=uuid4(),
        session_number=1,
        key=ConversationKey(
            platform=Platform.CLI, tenant=LOCAL_TENANT, channel_id="eval", thread_id=uuid4().hex
        ),
        messages=(Message.system("", at=at), *messages),
        model="",
        turn_count=sum(message.role is Role.USER for message in messages),
        created_at=at,
        updated_at=at,
        metadata={STANDALONE: last_understood(messages)},
    )


def with_turn(state: ConversationState, turn: Turn | None) -> ConversationState:
    """The thread after one more turn, as the next question finds it."""
    if turn is None:
        return state
    return replace(
        state,
        messages=(*state.messages, *turn.messages),
        turn_count=state.turn_count + 1,
        retrieval_history=(*state.retrieval_history, *turn.retrievals),
        topic_summary=turn.topic_summary or state.topic_summary,
        metadata={**state.metadata, **turn.metadata},
    )


def alternating(history: tuple[Said, ...], at: datetime) -> list[Message]:
    """User and assistant in turn, as a thread holds them."""
    messages: list[Message] = []
    for said in history:
        if said.role not in {Role.USER, Role.ASSISTANT} or not said.text.strip():
            continue
        is_next = messages and messages[-1].role is said.role
        if said.role is Role.USER:
            if is_next:
                messages.append(Message.assistant(UNANSWERED, at=at))
            messages.append(Message.user(said.text, at=at))
        elif messages and not is_next:
            messages.append(Message.assistant(said.text, at=at))
    if messages and messages[-1].role is Role.USER:
        messages.append(Message.assistant(UNANSWERED, at=at))
    return messages


def last_understood(messages: list[Message]) -> str:
    """What was searched for last, made turn by turn as the agent makes it."""
    understood = ""
    for place in range(0, len(messages), 2):
        understood = search_text(messages[place].content, last=understood, section="")
    return understood
