"""Questions in threads that wait for us: another person may answer them first."""

from __future__ import annotations

from collections import OrderedDict

from rag_core.desk.incoming import IncomingQuestion

REMEMBERED = 5_000


class Waiting:
    """The questions that were not put to us by name, until work on them begins."""

    def __init__(self) -> None:
        self._questions: OrderedDict[str, IncomingQuestion] = OrderedDict()

    def add(self, question: IncomingQuestion) -> None:
        self._questions[question.message_id] = question
        while len(self._questions) > REMEMBERED:
            self._questions.popitem(last=False)

    def begun(self, question: IncomingQuestion) -> None:
        self._questions.pop(question.message_id, None)

    def answered_by(self, author_id: str, *, thread_id: str) -> list[IncomingQuestion]:
        """The questions of others there, which this person's message makes superfluous; once."""
        found = [
            question
            for question in self._questions.values()
            if question.key.thread_id == thread_id and question.asker_id != author_id
        ]
        for question in found:
            self.begun(question)
        return found
