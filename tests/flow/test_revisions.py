"""What askers do to a question afterwards: edit it, take it back, ask it again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from rag_core.conversation.context import ContextItem, ContextKind
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.errors import UpstreamUnavailable
from rag_core.storage.engines.database import Database
from tests.builders import a_key
from tests.fakes.offices import Office, asked, ledger_of


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database, ledger_of(database))


def edited(question: IncomingQuestion, text: str) -> IncomingQuestion:
    return replace(question, question=Question(message=text))


async def said(office: Office) -> list[str]:
    state = await office.conversations.open(a_key(), model="plain", max_turns=50)
    return [message.content for message in state.messages[1:]]


async def turn_count(office: Office) -> int:
    return (await office.conversations.open(a_key(), model="plain", max_turns=50)).turn_count


async def answered(office: Office, *texts: str) -> list[IncomingQuestion]:
    questions = [asked(text, position=str(n)) for n, text in enumerate(texts, 1)]
    for question in questions:
        await office.desk.accept(question)
    async with office.at_work():
        await office.until_done()
    return questions


async def until_in_work(office: Office) -> None:
    async with asyncio.timeout(20):
        while not office.answers.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def test_an_edit_changes_the_message_and_its_paste_and_keeps_what_stood_beside_it(
    office: Office,
) -> None:
    said = ContextItem(kind=ContextKind.THREAD, author="ann", text="It was changed in May.")
    paste, other = (ContextItem(kind=ContextKind.PASTE, text=text) for text in ("one", "two"))
    question = asked("How?")
    question = replace(question, question=Question(message="How?", context=(said, paste)))
    await office.desk.accept(question)
    same = replace(question, question=Question(message="How?", context=(paste,)))
    assert await office.ledger.revise(same) is None, "a preview that is shown is no edit"
    await office.desk.revise(replace(question, question=Question(message="Why?", context=(other,))))
    claim = await office.ledger.claim(worker="w", lease=timedelta(seconds=9))
    assert claim is not None
    assert claim.question.question == Question(message="Why?", context=(other, said))


async def test_an_edit_before_the_answer_is_the_question_that_is_answered(office: Office) -> None:
    question = asked("How?")
    await office.desk.accept(question)
    await office.desk.revise(edited(question, "Why?"))
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: Why? [1] (1/2)", "Re: Why? [1] (2/2)"]
    assert len(office.answers.asked) == 1


async def test_an_edit_in_work_is_answered_anew_once(office: Office) -> None:
    question = asked("How?")
    office.answers.thinks.clear()
    await office.desk.accept(question)
    async with office.at_work():
        await until_in_work(office)
        await office.desk.revise(edited(question, "Why?"))
        office.answers.thinks.set()
        await office.until_done()
    assert office.shown == ["Re: Why? [1] (1/2)", "Re: Why? [1] (2/2)"]
    assert len(office.answers.asked) == 2
    assert await said(office) == ["Why?", "Re: Why? [1]"]


async def test_an_edit_after_the_answer_edits_its_messages_and_keeps_its_place_in_the_thread(
    office: Office,
) -> None:
    first, _ = await answered(office, "How?", "Where?")
    places = list(office.wall.posted)
    await office.desk.revise(edited(first, "Why?"))
    async with office.at_work():
        await office.until_done()
    assert list(office.wall.posted) == places
    assert office.shown[:2] == ["Re: Why? [1] (1/2)", "Re: Why? [1] (2/2)"]
    assert await said(office) == ["Why?", "Re: Why? [1]", "Where?", "Re: Where? [1]"]
    assert await turn_count(office) == 2


@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 3)])
async def test_an_answer_that_got_longer_or_shorter_has_as_many_messages(
    office: Office, before: int, after: int
) -> None:
    office.renderer.parts = before
    (question,) = await answered(office, "How?")
    office.renderer.parts = after
    await office.desk.revise(edited(question, "Why?"))
    async with office.at_work():
        await office.until_done()
    expected = [f"Re: Why? [1] ({number}/{after})" for number in range(1, after + 1)]
    assert office.shown == expected


async def test_the_same_words_again_change_nothing(office: Office) -> None:
    (question,) = await answered(office, "How?")
    await office.desk.revise(edited(question, "How?"))
    assert await office.ledger.waiting() == 0
    await office.desk.revise(asked("Never asked before?", thread="other"))
    assert await office.ledger.waiting() == 0


async def test_an_edit_whose_message_is_gone_is_posted_anew(office: Office) -> None:
    (question,) = await answered(office, "How?")
    office.wall.posted.clear()
    await office.desk.revise(edited(question, "Why?"))
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: Why? [1] (1/2)", "Re: Why? [1] (2/2)"]


async def test_a_question_that_is_taken_back_before_its_answer_is_never_answered(
    office: Office,
) -> None:
    question = asked("How?")
    await office.desk.accept(question)
    assert not await office.desk.withdraw(question.identity, asker_id="somebody else")
    assert await office.desk.withdraw(question.identity, asker_id=question.asker_id)
    async with office.at_work():
        await office.until_done()
    assert (office.shown, office.answers.asked) == ([], [])
    assert (await office.desk.accept(question)).repeated


async def test_a_question_that_is_taken_back_in_work_leaves_nothing(office: Office) -> None:
    question = asked("How?")
    office.answers.thinks.clear()
    await office.desk.accept(question)
    async with office.at_work():
        await until_in_work(office)
        assert await office.desk.withdraw(question.identity)
        await office.until_done()
    assert office.shown == []
    assert await said(office) == []
    assert office.wall.cleared == [question.message_id], "nothing announces an answer any more"


async def test_a_question_that_is_taken_back_takes_its_answer_with_it(office: Office) -> None:
    first, _ = await answered(office, "How?", "Where?")
    assert await office.desk.withdraw(first.identity)
    assert await said(office) == ["Where?", "Re: Where? [1]"]
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: Where? [1] (1/2)", "Re: Where? [1] (2/2)"]
    assert await turn_count(office) == 1
    assert [each.message for each in await office.ledger.asked_in(a_key())] == ["Where?"]
    await answered(office, "How?", "Where?", "And then?")
    assert await said(office) == ["Where?", "Re: Where? [1]", "And then?", "Re: And then? [1]"]


async def test_a_post_of_unknown_outcome_is_taken_back_too(office: Office) -> None:
    question = asked("How?")
    office.wall.troubles = [UpstreamUnavailable("slack")]
    office.wall.takes_effect = True
    await office.desk.accept(question)
    async with office.at_work():
        async with asyncio.timeout(20):
            while not office.wall.attempts:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        await office.desk.withdraw(question.identity)
        await office.until_done()
    assert office.shown == []


async def test_the_same_question_can_be_asked_again_in_its_place(office: Office) -> None:
    (question,) = await answered(office, "How?")
    known = await office.ledger.asked_in(question.key)
    assert known[0].response is not None
    office.answers.prefix = "Anew: "
    assert await office.desk.ask_again(known[0].response.answer_id, asker_id="asker-2")
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Anew: How? [1] (1/2)", "Anew: How? [1] (2/2)"]
    assert not await office.desk.ask_again(known[0].response.answer_id, asker_id="asker-2")
    assert await said(office) == ["How?", "Anew: How? [1]"]


@pytest.mark.parametrize("dies_at", range(1, 16))
@pytest.mark.parametrize("takes_back", [False, True])
async def test_a_process_that_dies_anywhere_in_a_change_loses_and_doubles_nothing(
    database: Database, dies_at: int, *, takes_back: bool
) -> None:
    office = Office(database, ledger_of(database))
    office.renderer.parts = 3
    (question,) = await answered(office, "How?")
    office.renderer.parts = 2
    if takes_back:
        await office.desk.withdraw(question.identity)
    else:
        await office.desk.revise(edited(question, "Why?"))
    office.dying.steps_left = dies_at
    async with office.at_work():
        await office.until_done()
    expected = [] if takes_back else ["Re: Why? [1] (1/2)", "Re: Why? [1] (2/2)"]
    assert office.shown == expected
    assert await said(office) == ([] if takes_back else ["Why?", "Re: Why? [1]"])


def test_a_part_made_anew_has_another_key() -> None:
    part = OutgoingPart(question_id=uuid4(), number=1, payload="")
    assert replace(part, revision=1).key != part.key
    assert len(part.key) == 24
