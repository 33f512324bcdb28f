"""What every platform supplies to the house."""

from __future__ import annotations

from typing import Protocol

from rag_core.conversation.key import ConversationKey, Platform
from rag_core.desk.incoming import IncomingQuestion, Receipt
from rag_core.desk.outgoing import Renderer, ReplyChannel


class ChatPlatform(Protocol):
    """A door that people come in by: it hears questions, and its channel answers them."""

    @property
    def platform(self) -> Platform: ...

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


class KnowsThreads(Protocol):
    """The threads that are ours, because we have answered in them."""

    async def answered_in(self, key: ConversationKey) -> bool: ...
