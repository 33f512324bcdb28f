"""What a desk does with a database, for tests that need a thread with a history."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.engines.engine import Database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.builders import a_key, a_question, a_response, a_turn

LEASE = timedelta(minutes=2)
EXPIRED = timedelta(seconds=-1)
WORKER = "worker-1"


class DeskWork:
    """One worker and its stores."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.conversations = Conversations(database)
        self.ledger = QuestionLedger(database)
        self._asked = 0

    async def open(
        self, key: ConversationKey | None = None, *, max_turns: int = 50, model: str = "scripted"
    ) -> ConversationState:
        return await self.conversations.open(key or a_key(), model=model, max_turns=max_turns)

    async def accept(self, question: IncomingQuestion | None = None) -> UUID:
        self._asked += 1
        asked = question or a_question(position=f"{self._asked:06d}")
        return (await self.ledger.accept(asked)).question_id

    async def claim(self, worker: str = WORKER, *, lease: timedelta = LEASE) -> OpenQuestion:
        claimed = await self.ledger.claim(worker=worker, lease=lease)
        assert claimed is not None, "there is nothing to claim"
        return claimed

    async def settle(
        self,
        question_id: UUID,
        *,
        turn: Turn | None = None,
        response: AgentResponse | None = None,
        worker: str = WORKER,
        parts: tuple[str, ...] = ('{"text": "Ten."}',),
        revision: int = 0,
    ) -> tuple[OutgoingPart, ...]:
        return await self.ledger.settle(
            question_id,
            worker=worker,
            response=response or a_response(),
            turn=turn,
            parts=parts,
            revision=revision,
        )

    async def exchange(
        self,
        text: str = "How many?",
        *,
        key: ConversationKey | None = None,
        turn: Turn | None = None,
        response: AgentResponse | None = None,
        max_turns: int = 50,
    ) -> UUID:
        """One question of a thread from its acceptance to its end."""
        thread = key or a_key()
        state = await self.open(thread, max_turns=max_turns)
        self._asked += 1
        question_id = await self.accept(a_question(text, key=thread, position=f"{self._asked:06d}"))
        await self.claim()
        await self.settle(
            question_id, turn=turn or a_turn(state.session_id, text), response=response
        )
        await self.ledger.close(question_id, delivered=True)
        return question_id
