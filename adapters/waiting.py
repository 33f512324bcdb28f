"""Questions that were not put to us by name: until we begin, somebody else may answer them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from rag_core.conversation.key import ConversationKey
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity

REMEMBERED = 5_000


class Waiting:
    """Such questions until work on them begins; the oldest are forgotten."""

    def __init__(self) -> None:
        self._questions: OrderedDict[MessageIdentity, IncomingQuestion] = OrderedDict()

    def add(self, question: IncomingQuestion) -> None:
        self._questions[question.identity] = question
        while len(self._questions) > REMEMBERED:
            self._questions.popitem(last=False)

    def begun(self, question: IncomingQuestion) -> None:
        self._questions.pop(question.identity, None)

    def forget(self, asker_id: str | None) -> None:
        """Drop the questions of one person, or of everybody."""
        for question in list(self._questions.values()):
            if asker_id in (None, question.asker_id):
                self.begun(question)

    def answered_by(self, author_id: str, *, thread: ConversationKey) -> Sequence[MessageIdentity]:
        """The questions of others there, which this person's message makes superfluous; once."""
        found = [
            question
            for question in self._questions.values()
            if question.key == thread and question.asker_id != author_id
        ]
        for question in found:
            self.begun(question)
        return [question.identity for question in found]
