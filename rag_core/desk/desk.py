"""Where platforms hand in their questions."""

from __future__ import annotations

import logging

from rag_core.desk.bell import Bell
from rag_core.desk.incoming import IncomingQuestion, Receipt
from rag_core.desk.observer import DeskObserver
from rag_core.ports import Ledger

log = logging.getLogger(__name__)


class Desk:
    """Accepts every question once; what it accepted survives the process."""

    def __init__(self, *, ledger: Ledger, bell: Bell, observer: DeskObserver) -> None:
        self._ledger = ledger
        self._bell = bell
        self._observer = observer

    async def accept(self, question: IncomingQuestion) -> Receipt:
        """Write the question down; when this returns, it is safe to tell the platform so."""
        receipt = await self._ledger.accept(question)
        log.info(
            "question accepted",
            extra={
                "question_id": str(receipt.question_id),
                "platform": question.key.platform.value,
                "repeated": receipt.repeated,
            },
        )
        self._observer.accepted(question.key.platform, repeated=receipt.repeated)
        if not receipt.repeated:
            self._bell.ring()
        return receipt
