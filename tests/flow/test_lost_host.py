"""A host is lost, with all that did not wait for its disk; nobody's question or answer is."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.storage.engines.database import open_database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.fakes.desk import Wall
from tests.fakes.disk import Disk, Moment, Watched
from tests.fakes.offices import Office, asked

QUESTIONS = ("How?", "And why?")
ANSWERS = [f"Re: {text} [1] ({number}/2)" for text in QUESTIONS for number in (1, 2)]


class WatchedWall(Wall):
    """A platform that shows a message before its answer to the post is back."""

    disk: Disk

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        posted = await super().post(question, part)
        self.disk.passes()
        return posted


class PromisingLedger(QuestionLedger):
    """A ledger that knows for which questions the model is not to be asked again."""

    disk: Disk

    async def settle(self, question_id: UUID, **values: Any) -> tuple[OutgoingPart, ...]:
        parts = await super().settle(question_id, **values)
        self.disk.promised.add(str(question_id))
        return parts


def questions() -> list[IncomingQuestion]:
    return [asked(text, position=str(number)) for number, text in enumerate(QUESTIONS)]


async def lived_through(folder: Path) -> Disk:
    """Two questions of a thread, from their acceptance to their end."""
    async with open_database(f"sqlite:///{folder / 'footnote.db'}") as database:
        wall = WatchedWall()
        disk = wall.disk = Disk(folder / "footnote.db", wall.posted)
        watched = Watched(database, disk)
        ledger = PromisingLedger(watched)
        ledger.disk = disk
        office = Office(watched, ledger)
        office.wall = wall
        for question in questions():
            await office.desk.accept(question)
            disk.promised.add(question.message_id)
        async with office.at_work():
            await office.until_done()
        assert office.shown == ANSWERS
        disk.keep()
        return disk


async def test_nothing_is_lost_or_shown_twice_whenever_the_power_fails(tmp_path: Path) -> None:
    disk = await lived_through(tmp_path)
    assert len(disk.moments) > 20
    assert any(moment.least < moment.most for moment in disk.moments)
    for moment in disk.moments:
        for log_bytes in {moment.least, moment.most}:
            await goes_on(disk.after(log_bytes, tmp_path / "back"), moment)


async def goes_on(file: Path, moment: Moment) -> None:
    async with open_database(f"sqlite:///{file}") as database:
        office = Office(database, QuestionLedger(database))
        office.wall.posted |= moment.posted
        known = await settled_in(office, moment.promised)
        for question in questions():
            receipt = await office.desk.accept(question)  # platforms repeat what was not heard
            assert receipt.repeated or question.message_id not in moment.promised
        async with office.at_work():
            await office.until_done()
    assert office.shown == ANSWERS
    assert not {str(each) for each in office.answers.asked} & known, "the model was asked again"


async def settled_in(office: Office, promised: frozenset[str]) -> set[str]:
    """The questions whose answers were promised to be there; they are."""
    questions = {each for each in promised if len(each) == len(str(UUID(int=0)))}
    for each in questions:
        assert await office.ledger.response_to(UUID(each)) is not None
    return questions
