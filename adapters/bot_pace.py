"""How often other bots are answered: two programs could otherwise talk to each other for ever."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from time import monotonic

from rag_core.conversation.key import ConversationKey
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity

MOST, SECONDS = 5, 60.0
KEPT = 1_000


class BotPace:
    """At most five answers a minute to other bots in one thread; people are never held back."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._answered: OrderedDict[ConversationKey, deque[tuple[float, MessageIdentity]]] = (
            OrderedDict()
        )

    def allows(self, question: IncomingQuestion) -> bool:
        """Whether this one may be answered; the same message asked about again counts once."""
        lately = self._answered.setdefault(question.key, deque())
        self._answered.move_to_end(question.key)
        while len(self._answered) > KEPT:
            self._answered.popitem(last=False)
        now = self._clock()
        while lately and lately[0][0] <= now - SECONDS:
            lately.popleft()
        if any(identity == question.identity for _, identity in lately):
            return True
        if len(lately) >= MOST:
            return False
        lately.append((now, question.identity))
        return True
