"""What visitors of the web door add to a run: those who were answered, cut off and sent away."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from uuid import uuid4

from tests.faults.checker import findings
from tests.faults.record import Record, Sent, Stored
from tests.faults.visitors import CHANNEL, Visit, Visitors


def visit(*, answer_id: str | None = None) -> Visit:
    """A question in a thread of its own, answered where there is an answer's id."""
    name = uuid4().hex
    sent = Sent(message_id=f"canary-{name}", place=("web", CHANNEL, name), canary=f"canary-{name}")
    document = None if answer_id is None else {"answer_id": answer_id}
    return Visit(sent, name, asked_at=0.0, document=document)


def stored(one: Visit, *, answers: int = 1) -> Stored:
    return Stored(
        question_id=uuid4().hex,
        message_id=uuid4().hex,
        place=one.sent.place,
        canary=one.sent.canary,
        ended=True,
        parts=1,
        answers=answers,
    )


def faults(visits: Sequence[Visit], known: Sequence[Stored], *, answer_of: str = "") -> list[str]:
    """What the judge says of a run in which only these people asked."""
    visitors = Visitors(Random(1), lambda: "http://127.0.0.1:1")
    visitors.visits = list(visits)
    record = Record(stored=list(known))
    visitors.put_into(record, [{"answer_id": "a1", "id": answer_of}])
    return [found.kind for found in findings(record)]


def test_who_was_answered_had_the_answer_to_the_own_question() -> None:
    asked = visit(answer_id="a1")
    known = stored(asked)
    assert faults([asked], [known], answer_of=known.question_id) == []


def test_another_ones_answer_is_crossed_and_the_own_one_lost() -> None:
    asked, other = visit(answer_id="a1"), visit()
    known = [stored(asked), stored(other)]
    assert set(faults([asked, other], known, answer_of=known[1].question_id)) >= {"lost", "crossed"}


def test_who_was_cut_off_finds_the_answer_in_the_thread_or_has_asked_nothing() -> None:
    asked = visit()
    assert faults([asked], [stored(asked)]) == []
    assert faults([asked], []) == []
    assert "lost" in faults([asked], [stored(asked, answers=0)])


def test_an_answer_to_a_question_that_nobody_stored_is_seen() -> None:
    assert set(faults([visit(answer_id="a2")], [])) == {"lost", "stray"}
