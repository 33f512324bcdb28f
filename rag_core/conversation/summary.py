"""What a thread is about, in the words of its own questions."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.conversation.message import Message, Role
from rag_core.conversation.state import MAX_TOPIC_SUMMARY
from rag_core.text.visible import visible


def summary_of(questions: Sequence[str]) -> str:
    """As many of the questions, newest first, as a topic summary holds."""
    summary = ""
    for one in dict.fromkeys(" ".join(visible(text).split()) for text in questions):
        longer = f"{summary}; {one}" if summary else one
        if len(longer) > MAX_TOPIC_SUMMARY:
            break
        summary = longer
    return summary or "".join(questions[:1])[:MAX_TOPIC_SUMMARY]


def questions_in(messages: Sequence[Message]) -> list[str]:
    """What was asked, newest first."""
    return [each.content for each in reversed(messages) if each.role is Role.USER]
