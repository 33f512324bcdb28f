"""Who takes a question back, and which one that was."""

from __future__ import annotations

import re
from collections import OrderedDict

from rag_core.desk.incoming import IncomingQuestion, MessageIdentity

NEVER_MIND = re.compile(
    r"(?:(?:oh|ah|ok|okay|ach),? )?"
    r"(?:never ?mind|nvm|forget (?:it|about it|that)|ignore (?:that|this|me)|scratch that"
    r"|cancel(?: that)?|vergiss (?:es|das)|egal|hat sich erledigt|schon gut"
    r"|olv[ií]dalo|no importa|d[ée]jalo|laisse tomber|oublie(?: [çc]a)?|peu importe)"
    r"(?:,? (?:thanks|thank you|danke|gracias|merci))?"
)
REMEMBERED = 5_000


def is_never_mind(text: str) -> bool:
    """Whether a message says that, and nothing else."""
    plain = " ".join(re.sub(r"[^\w\s,]+", " ", text.lower()).split()).strip(" ,")
    return NEVER_MIND.fullmatch(plain) is not None


class LastAsked:
    """Each person's last question in each place; the oldest are forgotten."""

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[str, ...], MessageIdentity] = OrderedDict()

    def remember(self, question: IncomingQuestion) -> None:
        """Under its thread, and under the channel where the thread was begun."""
        key = question.key
        for place in {key.thread_id, key.channel_id}:
            name = (key.platform.value, key.tenant, place, question.asker_id)
            self._last[name] = question.identity
            self._last.move_to_end(name)
        while len(self._last) > REMEMBERED:
            self._last.popitem(last=False)

    def taken_back(self, question: IncomingQuestion) -> MessageIdentity | None:
        """The question that a "never mind" means, once: the last one of this asker there."""
        key = question.key
        for place in (key.thread_id, key.channel_id):
            name = (key.platform.value, key.tenant, place, question.asker_id)
            found = self._last.pop(name, None)
            if found is not None:
                self._forget(found)
                return found
        return None

    def forget(self, asker_id: str | None) -> None:
        """Drop what one person asked, or everybody."""
        for name in [name for name in self._last if asker_id in (None, name[-1])]:
            del self._last[name]

    def _forget(self, identity: MessageIdentity) -> None:
        for name in [name for name, known in self._last.items() if known == identity]:
            del self._last[name]
