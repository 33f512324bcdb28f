"""Threads on Discord that others may be led to."""

from __future__ import annotations

from rag_core.agent.answer import EarlierThread
from rag_core.desk.incoming import IncomingQuestion

BY_COMMAND = "interaction"
"""What stands in the address of a question that is no message."""


def opens(question: IncomingQuestion) -> bool:
    """Whether a message in a server's channel began this thread.

    Such a thread is public, and who may ask in the channel reads it; private threads, posts and
    direct messages are begun otherwise."""
    return (
        not question.private
        and question.key.tenant.isdecimal()
        and question.key.thread_id == question.message_id
        and BY_COMMAND not in question.address
    )


def address_of(thread: EarlierThread) -> str:
    """A thread that a message began has that message's id."""
    return f"https://discord.com/channels/{thread.key.tenant}/{thread.key.thread_id}"
