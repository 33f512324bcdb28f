"""What a platform itself says to an asker whose question is not taken."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from rag_core.conversation.key import TenantId
from rag_core.desk.incoming import IncomingQuestion, Receipt
from rag_core.desk.notices import notices_in

SECONDS = 30.0
MOST = 5_000


def refusal_sentence(receipt: Receipt, *, locale: str) -> str:
    """Why the question is not answered, and when to ask again; empty where the desk says so, or
    where it is answered."""
    refusal = receipt.must_be_told
    return "" if refusal is None else notices_in(locale).of(refusal, retry_at=receipt.retry_at)


class RefusalPace:
    """Lets each person be told now and then: a flood of questions makes no flood of words, and
    what was said last says until when it holds."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._told: OrderedDict[tuple[TenantId, str], float] = OrderedDict()

    def forget(self, asker_id: str | None) -> None:
        """Drop when one person, or everybody, was told."""
        for asker in list(self._told):
            if asker_id in (None, asker[1]):
                del self._told[asker]

    def allows(self, question: IncomingQuestion) -> bool:
        """Whether the asker may be told now; if so, they were."""
        asker = (question.key.tenant, question.asker_id)
        now = self._clock()
        if now - self._told.get(asker, float("-inf")) < SECONDS:
            return False
        self._told[asker] = now
        self._told.move_to_end(asker)
        while len(self._told) > MOST:
            self._told.popitem(last=False)
        return True
