"""What is known of one thread; it lives in the database and survives restarts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from rag_core.conversation.key import ConversationKey
from rag_core.conversation.message import Message, Role

MAX_TOPIC_SUMMARY = 200
CARRIED_TURNS = 3
"""So many turns go on into the session that follows a full one."""
SUMMARISED = "summarised"
"""Where a thread's metadata says at which turn a model named its topic."""
LIVE_MESSAGES = 100
"""Older messages of a thread are archived: kept, but no longer loaded with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRecord:
    """One call of the retrieval tool, as the thread remembers it."""

    tool_name: str
    query: str
    results_count: int
    avg_similarity: float
    timestamp: datetime
    books: tuple[str, ...] = ()
    """The books that were searched; empty where an older version recorded the search."""


def is_within_books(records: Sequence[RetrievalRecord], books: Collection[str]) -> bool:
    """Whether these searches read from these books and from no other one."""
    read = [record.books for record in records]
    return bool(read) and all(each and set(each) <= set(books) for each in read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answered question: what it adds to its thread."""

    session_id: UUID
    messages: tuple[Message, ...]
    retrievals: tuple[RetrievalRecord, ...] = ()
    topic_summary: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Merged over the thread's own metadata, key by key."""

    def __post_init__(self) -> None:
        roles = [message.role for message in self.messages]
        if not roles or roles[0] is not Role.USER or roles[-1] is not Role.ASSISTANT:
            raise ValueError("a turn starts with the question and ends with the answer")
        if Role.USER in roles[1:] or Role.SYSTEM in roles:
            raise ValueError("a turn has one question")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationState:
    """What is known of one thread: its open session and the messages that are live."""

    session_id: UUID
    session_number: int
    key: ConversationKey
    messages: tuple[Message, ...]
    model: str
    turn_count: int
    created_at: datetime
    updated_at: datetime
    retrieval_history: tuple[RetrievalRecord, ...] = ()
    topic_summary: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    archived_at: datetime | None = None
    carried: tuple[Message, ...] = ()
    """The last turns of the session before, which this one goes on from."""

    def __post_init__(self) -> None:
        if not self.messages or self.messages[0].role is not Role.SYSTEM:
            raise ValueError("a conversation starts with its system message")
        if self.session_number < 1 or self.turn_count < 0:
            raise ValueError("sessions are counted from 1 and turns from 0")
        if len(self.topic_summary) > MAX_TOPIC_SUMMARY:
            raise ValueError(f"a topic summary has at most {MAX_TOPIC_SUMMARY} characters")
        if self.created_at.tzinfo is None or self.updated_at.tzinfo is None:
            raise ValueError("a conversation needs timezone-aware times")

    @property
    def turns(self) -> tuple[tuple[Message, ...], ...]:
        """What was said, grouped by question: the turns carried over from the session before, then
        the live messages; a turn cut by archiving is left out."""
        groups: list[list[Message]] = []
        for message in (*self.carried, *self.messages[1:]):
            if message.role is Role.USER:
                groups.append([])
            if groups:
                groups[-1].append(message)
        return tuple(tuple(group) for group in groups)
