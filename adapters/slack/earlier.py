"""Threads on Slack that others may be led to."""

from __future__ import annotations

import re

from rag_core.agent.answer import EarlierThread
from rag_core.desk.incoming import IncomingQuestion

TIMESTAMP = re.compile(r"\d+\.\d+")


def opens(question: IncomingQuestion) -> bool:
    """Whether a message in a channel began this thread: who asks there reads it.

    Direct messages and conversations of a few have ids that begin otherwise."""
    return (
        not question.private
        and question.key.channel_id.startswith("C")
        and question.key.thread_id == question.message_id
        and TIMESTAMP.fullmatch(question.message_id) is not None
    )


def address_of(thread: EarlierThread) -> str:
    """The thread in the workspace's own client."""
    key = thread.key
    place = f"{key.tenant}/{key.channel_id}/thread/{key.channel_id}-{key.thread_id}"
    return f"https://app.slack.com/client/{place}"
