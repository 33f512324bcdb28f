"""Threads of the page that their owner may be led back to."""

from __future__ import annotations

from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion


def opens(question: IncomingQuestion) -> bool:
    """A channel of the web is one key's, one browser's or this machine's: all of it is its own."""
    return not question.private


def address_of(response: AgentResponse) -> str:
    """By the later answer: the earlier thread's id is kept in no other thread."""
    return f"/page/earlier/{response.answer_id}"
