"""Where platforms hand in their questions."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

from rag_core.conversation.key import Platform
from rag_core.desk.bell import Bell
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.limits import UNBOUNDED, Bounds
from rag_core.desk.observer import DeskObserver
from rag_core.desk.room import Room
from rag_core.desk.trouble import Trouble
from rag_core.errors import DeskFull, StorageError
from rag_core.ports import Ledger

log = logging.getLogger(__name__)

MAX_ENTERING = 1_000
"""Questions of one platform that are being written down at once. More than that is a storm of
repeats, which would grow in memory while the disk is slow; who is turned away is heard again."""


class Desk:
    """Accepts every question once; what it accepted survives the process."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        bell: Bell,
        observer: DeskObserver,
        bounds: Mapping[Platform, Bounds] | None = None,
        room: Room | None = None,
        max_entering: int = MAX_ENTERING,
    ) -> None:
        self._ledger = ledger
        self._bell = bell
        self._observer = observer
        self._bounds = bounds or {}
        self._room = room
        self._max_entering = max_entering
        self._entering: Counter[Platform] = Counter()
        self._trouble = Trouble("no question is accepted")

    async def accept(self, question: IncomingQuestion) -> Receipt:
        """Write the question down; when this returns, it is safe to tell the platform so."""
        platform = question.key.platform
        if self._room is not None:
            self._room.check()
        bounds = self._bounds.get(platform, UNBOUNDED)
        with self._entrance(platform):
            receipt = await self._written(question, bounds)
        log.info(
            "question accepted" if receipt.refusal is None else "question declined",
            extra={
                "question_id": str(receipt.question_id),
                "platform": platform.value,
                "repeated": receipt.repeated,
                "bound": receipt.refusal,
            },
        )
        self._observer.accepted(platform, repeated=receipt.repeated)
        if not receipt.repeated:
            self._bell.ring()
            if bounds.grace_seconds:
                self._bell.ring_after(bounds.grace_seconds)
        return receipt

    async def _written(self, question: IncomingQuestion, bounds: Bounds) -> Receipt:
        try:
            receipt = await self._ledger.accept(question, bounds=bounds)
        except StorageError as error:
            self._trouble.met(error)
            raise
        self._trouble.over()
        return receipt

    @contextmanager
    def _entrance(self, platform: Platform) -> Iterator[None]:
        if self._entering[platform] >= self._max_entering:
            raise DeskFull("Too many questions arrive at once. Please ask again in a moment.")
        self._entering[platform] += 1
        try:
            yield
        finally:
            self._entering[platform] -= 1

    async def revise(self, question: IncomingQuestion) -> None:
        """The asker edited that message: it is answered anew, in the same messages."""
        self._changed(await self._ledger.revise(question), "question revised")

    async def withdraw(self, identity: MessageIdentity, *, asker_id: str | None = None) -> bool:
        """Never give the answer, or take it away; False: no such question (of this asker)."""
        withdrawn = await self._ledger.withdraw(identity, asker_id=asker_id)
        return self._changed(withdrawn, "question withdrawn")

    async def ask_again(self, answer_id: UUID, *, asker_id: str) -> Receipt | None:
        """Answer the same question anew, in its place; None: no such answer any more.

        It counts like a question of whoever asks again."""
        known = await self._ledger.answer(answer_id)
        if known is None:
            return None
        bounds = self._bounds.get(known[1].platform, UNBOUNDED)
        receipt = await self._ledger.ask_again(answer_id, asker_id=asker_id, bounds=bounds)
        if receipt is None:
            return None
        log.info(
            "question asked again",
            extra={"question_id": str(receipt.question_id), "bound": receipt.refusal},
        )
        self._bell.ring()
        return receipt

    def _changed(self, question_id: UUID | None, words: str) -> bool:
        """Whoever works on the answer as it was may stop; somebody takes it up anew."""
        if question_id is None:
            return False
        log.info(words, extra={"question_id": str(question_id)})
        self._bell.call_back(question_id)
        self._bell.ring()
        return True
