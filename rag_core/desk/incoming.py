"""A question as a platform heard it, and where its answer belongs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from rag_core.books.book import BookIds
from rag_core.books.policy import ReaderProfile
from rag_core.conversation.key import ConversationKey
from rag_core.conversation.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageIdentity:
    """The one message that asks: a platform may deliver it often, under many event ids."""

    platform: str
    tenant: str
    channel_id: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingQuestion:
    """A question that a platform heard: who asks what in which thread."""

    key: ConversationKey
    message_id: str
    asker_id: str
    question: Question
    heard_at: datetime
    position: str
    """Orders the messages of one thread as the platform does: compared as text, so a platform
    pads its own (snowflakes to 20 digits, Slack timestamps as they are)."""
    address: Mapping[str, str] = field(default_factory=dict)
    """What the platform's reply channel needs to answer; nobody else reads it."""
    books: BookIds | None = None
    """The books that the asker named and may read; None: those of the channel."""
    category_id: str = ""
    """The category that the channel stands in, where the platform has categories."""
    reader: ReaderProfile | None = None
    """What the asker has and knows, where they said so; else what holds in the place."""
    locale: str = "en"
    private: bool = False
    """Whether only the asker may see the answer."""
    original_length: int = 0
    """Characters of a message that was split into question and paste; 0: it was not split."""
    retry_at: datetime | None = None
    """When the bound has room again that this question met; None: it met none, or nobody knows."""

    @property
    def identity(self) -> MessageIdentity:
        return MessageIdentity(
            platform=self.key.platform.value,
            tenant=self.key.tenant,
            channel_id=self.key.channel_id,
            message_id=self.message_id,
        )


class Refusal(StrEnum):
    """Which bound a question met."""

    QUEUE = "queue"
    USER = "user"
    CHANNEL = "channel"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the ledger says to a delivery: the question's id, and whether it was known already."""

    question_id: UUID
    repeated: bool
    refusal: Refusal | None = None
    """The bound that the question met: it is not answered."""
    retry_at: datetime | None = None
    """When that bound has room again, where that is known."""
    notice_follows: bool = True
    """Whether the desk itself tells the asker of the refusal, as it delivers an answer. It does so
    once in a while; else the platform says it."""

    @property
    def must_be_told(self) -> Refusal | None:
        """The refusal that the platform has to tell the asker of."""
        return None if self.notice_follows or self.repeated else self.refusal
