"""What people do to a question on Discord after they have asked it: edit, delete, take back."""

from __future__ import annotations

import asyncio

import pytest

from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion, Receipt
from rag_core.desk.outgoing import OutgoingPart
from tests.builders import a_response
from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, on_a_course
from tests.peers.discord import SEND
from tests.peers.discord_interactions import Interaction
from tests.peers.discord_world import Note

QUESTION = "How many questions may I ask a day?"
LONG = "\n\n".join(f"Paragraph {number}: " + "word " * 100 for number in range(12))
EDIT = "PATCH /channels/:c/messages/:m"
DELETE = "DELETE /channels/:c/messages/:m"


async def ask(course: Course, text: str = QUESTION) -> Note:
    asked = await course.peer.say(course.channel, course.alice, text, mentions_bot=True)
    await course.answered(len(course.desk.delivered) + 1)
    return asked


def echo(question: IncomingQuestion) -> AgentResponse:
    return a_response(f"About: {question.question.message}")


@pytest.mark.parametrize("seconds", [0.0, 0.2])
async def test_an_edited_question_is_answered_anew_in_the_same_message(seconds: float) -> None:
    async with on_a_course(DiscordDesk(echo)) as course:
        course.desk.renewal_seconds = seconds
        asked = await ask(course)
        (answer,) = course.peer.seen_in(asked.id)
        await course.peer.edit(asked, "How many on Sundays?")
        await course.until(lambda: "on Sundays?" in answer.content)
        await course.quiet()
        assert course.peer.seen_in(asked.id) == [answer]
        assert answer.pinged == ()
        assert all(body["allowed_mentions"] == {"parse": []} for body in course.peer.bodies(EDIT))


@pytest.mark.parametrize(("first", "then"), [("short", LONG), (LONG, "short")])
async def test_an_answer_that_gets_longer_or_shorter_takes_or_leaves_messages(
    first: str, then: str
) -> None:
    desk = DiscordDesk(
        lambda question: a_response(first if "one" in question_text(question) else then)
    )
    async with on_a_course(desk) as course:
        asked = await ask(course, "one?")
        before = len(course.peer.seen_in(asked.id))
        await course.peer.edit(asked, "two?")
        wanted = 4 if then == LONG else 1
        assert before != wanted
        await course.until(lambda: len(course.peer.seen_in(asked.id)) == wanted)


def question_text(question: IncomingQuestion) -> str:
    return question.question.message


async def test_a_preview_that_discord_adds_changes_nothing() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        await course.peer.unfurl(asked)
        await course.until(lambda: course.desk.repeats)
        await course.quiet()
        assert course.peer.bodies(EDIT) == []


async def test_an_edit_of_what_was_never_a_question_asks_nothing() -> None:
    async with on_a_course() as course:
        said = await course.peer.say(course.channel, course.alice, "Nice weather today")
        await course.peer.edit(said, "Nice weather, is it not?")
        await course.quiet()
        assert course.desk.questions == []


async def test_an_edited_follow_up_is_answered_anew() -> None:
    async with on_a_course(DiscordDesk(echo)) as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        more = await course.peer.say(thread, course.alice, "And on Sundays?")
        await course.answered(2)
        await course.peer.edit(more, "And on Mondays?")
        await course.until(lambda: "Mondays" in course.peer.seen_in(asked.id)[-1].content)
        assert len(course.peer.seen_in(asked.id)) == 2


async def test_the_answer_to_a_deleted_question_goes_with_it() -> None:
    async with on_a_course(DiscordDesk(lambda _: a_response(LONG))) as course:
        asked = await ask(course)
        assert len(course.peer.seen_in(asked.id)) == 4
        await course.peer.delete(asked)
        await course.until(lambda: course.peer.seen_in(asked.id) == [])


async def test_questions_that_were_deleted_together_are_withdrawn_together() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        more = [await course.peer.say(thread, course.alice, f"And {n}?") for n in range(3)]
        await course.answered(4)
        await course.peer.delete(*more)
        await course.until(lambda: len(course.peer.seen_in(asked.id)) == 1)


async def test_a_question_that_is_deleted_while_it_is_answered_leaves_nothing_behind() -> None:
    async with on_a_course() as course:
        course.desk.thinks.clear()
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.until(lambda: course.desk.progress)
        assert course.desk.progress is not None
        await course.desk.progress.text("Ten a")
        await course.until(lambda: course.peer.seen_in(asked.id))
        await course.peer.delete(asked)
        await course.until(lambda: course.desk.withdrawn)
        course.desk.thinks.set()
        await course.until(lambda: course.peer.seen_in(asked.id) == [])
        await course.quiet()
        assert course.peer.seen_in(asked.id) == []


class SlowDesk(DiscordDesk):
    """It writes a question down only when it is let."""

    def __init__(self) -> None:
        super().__init__(echo)
        self.knocked, self.opens = asyncio.Event(), asyncio.Event()

    async def accept(self, question: IncomingQuestion) -> Receipt:
        self.knocked.set()
        await self.opens.wait()
        return await super().accept(question)


async def test_a_question_that_is_edited_before_the_desk_has_it_is_asked_as_edited() -> None:
    desk = SlowDesk()
    async with on_a_course(desk) as course:
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.until(desk.knocked.is_set)
        await course.peer.edit(asked, "How many on Sundays?")
        await course.quiet()
        desk.opens.set()
        await course.until(lambda: desk.texts == ["How many on Sundays?"])


async def test_a_question_that_is_deleted_before_the_desk_has_it_is_taken_back() -> None:
    desk = SlowDesk()
    async with on_a_course(desk) as course:
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.until(desk.knocked.is_set)
        await course.peer.delete(asked)
        await course.quiet()
        desk.opens.set()
        await course.until(lambda: desk.withdrawn)
        await course.quiet()
        assert course.peer.seen_in(course.channel.id) == []
        assert all("10008" in refusal for refusal in course.peer.forgive())


async def test_a_deleted_message_that_was_no_question_is_none_of_ours() -> None:
    async with on_a_course() as course:
        said = await course.peer.say(course.channel, course.bob, "Nice weather today")
        await ask(course)
        await course.peer.delete(said)
        await course.quiet()
        assert course.desk.withdrawn == []


@pytest.mark.parametrize(
    "words", ["never mind", "Nevermind!", "Oh, forget it, thanks", "nvm", "egal"]
)
async def test_never_mind_in_the_thread_takes_the_last_question_back(words: str) -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        await course.peer.say(thread, course.bob, "And on Mondays?")
        await course.answered(2)
        await course.peer.say(thread, course.alice, "And on Sundays?")
        await course.answered(3)
        await course.peer.say(thread, course.alice, words)
        await course.until(lambda: len(course.peer.seen_in(asked.id)) == 2)
        await course.quiet()
        assert len(course.desk.questions) == 3
        assert len(course.peer.seen_in(asked.id)) == 2


async def test_never_mind_in_the_channel_means_the_question_there() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        reply = await course.peer.say(course.channel, course.alice, "never mind", mentions_bot=True)
        await course.until(lambda: course.peer.seen_in(asked.id) == [])
        assert course.peer.seen_in(reply.id) == []


async def test_nobody_takes_back_what_somebody_else_has_asked() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        await course.peer.say(thread, course.bob, "never mind")
        await course.quiet()
        assert len(course.peer.seen_in(asked.id)) == 1
        assert len(course.desk.questions) == 1


async def test_a_question_that_is_edited_to_never_mind_is_taken_back() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        await course.peer.edit(asked, "never mind")
        await course.until(lambda: course.peer.seen_in(asked.id) == [])


async def commanded(course: Course, *, private: bool) -> Interaction:
    asked = await course.peer.interactions.slash(
        course.channel, course.alice, "ask", question=QUESTION, private=private
    )
    await course.answered()
    return asked


@pytest.mark.parametrize("private", [True, False])
async def test_the_answer_to_a_command_can_be_changed_and_removed(private: bool) -> None:
    async with on_a_course(DiscordDesk(lambda _: a_response(LONG))) as course:
        asked = await commanded(course, private=private)
        replies, (question, ids) = course.desk.platform.replies, course.desk.delivered[0]
        for number, external_id in enumerate(ids):
            part = OutgoingPart(
                question_id=course.desk.taken[question.identity].question_id,
                number=number,
                payload=f'{{"content": "Part {number}"}}',
                external_id=external_id,
            )
            await replies.edit(question, part)
        assert asked.texts == [f"Part {number}" for number in range(4)]
        for external_id in [*ids, *ids]:
            await replies.remove(question, external_id)
        assert (asked.shown if private else course.peer.seen_in(course.channel.id)) == []
        course.peer.forgive()


async def test_a_private_answer_is_out_of_reach_after_fifteen_minutes_and_nothing_breaks() -> None:
    async with on_a_course() as course:
        asked = await commanded(course, private=True)
        course.peer.clock.move(3_600.0)
        question, ids = course.desk.delivered[0]
        await course.desk.platform.replies.remove(question, ids[0])
        assert len(asked.shown) == 1
        course.peer.forgive()


async def test_the_right_place_is_found_where_threads_were_not_allowed() -> None:
    async with on_a_course(DiscordDesk(echo)) as course:
        course.channel.denied.add("CREATE_PUBLIC_THREADS")
        asked = await ask(course)
        (answer,) = course.peer.seen_in(course.channel.id)
        await course.peer.edit(asked, "How many on Sundays?")
        await course.until(lambda: "Sundays" in answer.content)
        await course.peer.delete(asked)
        await course.until(lambda: course.peer.seen_in(course.channel.id) == [])
        assert len(course.peer.bodies(SEND)) == 1
        course.peer.forgive()
