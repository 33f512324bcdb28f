"""A reply by staff that may be kept, and is found like a passage while it is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from uuid import NAMESPACE_URL, UUID, uuid5

from rag_core.books.audience import Audience
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.incoming import MessageIdentity
from rag_core.ports import Embedder
from rag_core.retrieval.query import Filters
from rag_core.text.visible import visible

KIND = "staff_answer"
MAX_TEXT, MAX_QUESTION, MAX_NAME = 4_000, 300, 60
EVERYWHERE = "everywhere"
"""Shared with this, an answer is found wherever its book is read."""
LEAST_WORDS = 3


class Keeping(StrEnum):
    """Where a reply stands: only what is kept is ever found."""

    OFFERED = "offered"
    KEPT = "kept"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffReply:
    """What somebody of the staff wrote, as a platform heard it."""

    key: ConversationKey
    message_id: str
    author_id: str
    author: str
    text: str
    said_at: datetime
    link: str = ""
    category_id: str = ""

    @property
    def identity(self) -> MessageIdentity:
        return MessageIdentity(
            platform=self.key.platform.value,
            tenant=self.key.tenant,
            channel_id=self.key.channel_id,
            message_id=self.message_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The last question of a thread, which the documents did not answer."""

    question_id: UUID
    asker_id: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffAnswer:
    """One reply with all that is known of it."""

    id: UUID
    identity: MessageIdentity
    question_id: UUID | None
    """What it helped out with; forgotten with that question."""
    question: str
    """The asker's words: they help to find the answer, and no reader is shown them."""
    text: str
    author_id: str
    author: str
    link: str
    book_id: str
    modules: tuple[str, ...]
    """What its place was bound to: it is found where one of them is looked at, too."""
    released_at: datetime
    said_at: datetime
    changed_at: datetime
    expires_at: datetime
    keeping: Keeping = Keeping.OFFERED
    shared_with: tuple[str, ...] = ()
    """Where else it is found, by the operator's decision on these very words."""
    kept_by: str = ""
    model: str = ""
    vector: Sequence[float] = field(default=(), repr=False)

    @property
    def chunk_id(self) -> str:
        """Another text is another passage, so that answers which cite the old one say so."""
        return str(uuid5(NAMESPACE_URL, f"{KIND}:{self.id}:{self.content_hash}"))

    @property
    def content_hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def title(self) -> str:
        return f"Staff answer by {self.author}, {self.said_at:%Y-%m-%d}"

    @property
    def shared_title(self) -> str:
        """In another place: who its author is, is known only where it was kept."""
        return f"Staff answer, {self.said_at:%Y-%m-%d}"

    @property
    def embedded_text(self) -> str:
        """The question belongs to it: who asks the same uses the asker's words."""
        return f"{self.question}\n\n{self.text}" if self.question else self.text

    @property
    def place(self) -> tuple[Platform, TenantId]:
        return Platform(self.identity.platform), TenantId(self.identity.tenant)

    @property
    def is_written_down(self) -> bool:
        """Whether an admin wrote it on our own pages, and no message stands behind it."""
        return self.place[0] is Platform.WEB

    def belongs_to(self, audience: Audience) -> bool:
        """Whether it was kept there, or is the operator's own, who signs it for all readers."""
        return self.is_written_down or self.place == (audience.platform, audience.tenant)

    def is_found_at(self, now: datetime) -> bool:
        return self.keeping is Keeping.KEPT and now < self.expires_at

    def passes(self, filters: Filters) -> bool:
        """Like a page without course fields: where those are asked for, it does not stand."""
        modules = {*filters.modules, *([filters.module] if filters.module else [])}
        return (
            (filters.released_at is None or self.released_at <= filters.released_at)
            and (not modules or bool(modules.intersection(self.modules)))
            and filters.chapter_min is None
            and filters.chapter_max is None
            and filters.lesson is None
            and not filters.proficiency_levels
            and filters.layer is None
            and filters.parent_doc_id is None
        )


def may_answer(text: str) -> bool:
    """Whether words can be an answer at all: not thanks, and not a question back."""
    return len(text.split()) >= LEAST_WORDS and not text.rstrip().endswith(("?", "？"))


def one_line(text: str, most: int) -> str:
    return " ".join(visible(text).split())[:most]


async def with_vector(answer: StaffAnswer, embedder: Embedder) -> StaffAnswer:
    """The answer with the vector of its words as they stand."""
    (vector,) = await embedder.embed_documents([answer.embedded_text])
    return replace(answer, model=embedder.model, vector=tuple(vector))
