"""What every platform supplies to the house."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from adapters.answered_threads import Began
from adapters.steward import Finding
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.outgoing import Renderer, ReplyChannel


class ExaminesItself(Protocol):
    """A platform that can say what is in place and what is missing on its side."""

    @property
    def platform(self) -> Platform: ...

    async def findings(self, *, tenant: TenantId | None = None) -> Sequence[Finding]:
        """Everywhere, or, for the admins of one server or workspace, what concerns them."""
        ...


class ChatPlatform(ExaminesItself, Protocol):
    """A door that people come in by: it hears questions, and its channel answers them."""

    @property
    def renderer(self) -> Renderer: ...

    @property
    def replies(self) -> ReplyChannel: ...

    @property
    def is_ready(self) -> bool:
        """Whether the platform gave a sign of life lately."""
        ...

    async def run(self) -> None:
        """Listen until cancelled. Ends by itself only with an error that names who must act."""
        ...


class AcceptsQuestions(Protocol):
    """The desk, as a platform sees it."""

    async def accept(self, question: IncomingQuestion) -> Receipt:
        """Write the question down; when this returns, it is safe to tell the platform so."""
        ...


class RevisesQuestions(Protocol):
    """The desk, for what askers do to a question after they have asked it."""

    async def revise(self, question: IncomingQuestion) -> None:
        """The asker edited that message: the same identity, another text.

        A question that waits is replaced, an answered one is answered anew in the same
        messages. The same text, or a message that was never a question, changes nothing."""
        ...

    async def withdraw(self, identity: MessageIdentity, *, asker_id: str | None = None) -> bool:
        """Never give the answer, or take it away; False: no such question (of this asker)."""
        ...

    async def ask_again(self, answer_id: UUID, *, asker_id: str) -> Receipt | None:
        """Answer the same question anew, in its place; None: no such answer any more.

        It counts like a question of this asker; the receipt says which bound it met."""
        ...


class TakesQuestions(AcceptsQuestions, RevisesQuestions, Protocol):
    """The desk, for all that people do on a chat platform."""


class KnowsThreads(Protocol):
    """The threads in which the bot has answered."""

    async def find(self, key: ConversationKey) -> Began | None:
        """How the thread began; None: it holds no answer of the bot."""
        ...
