"""The line that says how far an answer is: there while it is made, gone when it is there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import QuestionState
from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, on_a_course, running
from tests.peers.discord import SEND, open_discord_peer
from tests.peers.discord_interactions import ORIGINAL, Interaction
from tests.peers.discord_limits import Trouble
from tests.peers.discord_world import Note

MINUTE = timedelta(minutes=1)
QUESTION = "How many questions may I ask a day?"
EDIT = "PATCH /channels/:c/messages/:m"
DELETE = "DELETE /channels/:c/messages/:m"


async def ask(course: Course) -> Note:
    """A question whose answer is being made."""
    course.desk.thinks.clear()
    asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
    await course.until(lambda: course.desk.progress)
    return asked


async def command(course: Course) -> Interaction:
    course.desk.thinks.clear()
    asked = await course.peer.interactions.slash(
        course.channel, course.alice, "ask", question=QUESTION
    )
    await course.until(lambda: course.desk.progress)
    return asked


async def reach(course: Course, state: QuestionState) -> None:
    assert course.desk.progress is not None
    await course.desk.progress.stage(state)


def seen(course: Course, asked: Note) -> list[str]:
    return [note.content for note in course.peer.seen_in(asked.id)]


async def test_a_line_follows_the_stages_and_makes_way_for_the_answer() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        await reach(course, QuestionState.RETRIEVING)
        await course.until(lambda: "Looking in" in "".join(seen(course, asked)))
        await reach(course, QuestionState.GENERATING)
        await course.until(lambda: "Writing" in "".join(seen(course, asked)))
        assert len(seen(course, asked)) == 1
        course.desk.thinks.set()
        await course.answered()
        (answer,) = seen(course, asked)
        assert "Ten a day" in answer


async def test_the_answer_to_a_command_takes_the_place_of_the_line() -> None:
    async with on_a_course() as course:
        asked = await command(course)
        await reach(course, QuestionState.RETRIEVING)
        await course.until(lambda: "Looking in" in "".join(asked.texts))
        course.desk.thinks.set()
        await course.answered()
        (answer,) = asked.texts
        assert "Ten a day" in answer


async def test_a_quick_answer_needs_no_line() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, line_after_seconds=30.0):
            await ask(course)
            await reach(course, QuestionState.RETRIEVING)
            course.desk.thinks.set()
            await course.answered()
            assert len(peer.bodies(SEND)) == 1


async def test_the_latest_stage_wins_and_a_stage_told_twice_is_shown_once() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, line_every_seconds=0.2):
            asked = await ask(course)
            stages = [QuestionState.RETRIEVING, QuestionState.GENERATING] * 20
            for state in [*stages, QuestionState.GENERATING]:
                await reach(course, state)
                await asyncio.sleep(0.005)
            await course.until(lambda: "Writing" in "".join(seen(course, asked)))
            assert len(peer.bodies(EDIT)) <= 3
            assert peer.buckets.refused == 0
            course.desk.thinks.set()
            await course.answered()


@pytest.mark.parametrize("route", [SEND, EDIT])
async def test_a_line_that_is_refused_costs_nothing_but_itself(route: str) -> None:
    async with on_a_course() as course:
        course.peer.troubles.on(route, Trouble(status=403))
        asked = await ask(course)
        await reach(course, QuestionState.RETRIEVING)
        await course.until(lambda: course.peer.bodies(SEND))
        await reach(course, QuestionState.GENERATING)
        await course.quiet()
        course.desk.thinks.set()
        await course.answered()
        (answer,) = seen(course, asked)
        assert "Ten a day" in answer


async def test_a_line_that_hangs_holds_the_answer_up_for_a_moment_only() -> None:
    async with on_a_course() as course:
        asked = await command(course)
        course.peer.troubles.on(f"PATCH {ORIGINAL}", Trouble(hang=True))
        await reach(course, QuestionState.RETRIEVING)
        await course.until(lambda: course.peer.bodies(f"PATCH {ORIGINAL}"))
        course.desk.thinks.set()
        await course.answered()
        (answer,) = asked.texts
        assert "Ten a day" in answer


async def lost_while_writing(course: Course) -> IncomingQuestion:
    """A process that was killed while its line stood there."""
    asked = await ask(course)
    await reach(course, QuestionState.GENERATING)
    assert course.desk.progress is not None
    await course.desk.progress.text("Ten a")
    await course.until(lambda: "Ten a" in "".join(seen(course, asked)))
    (question,) = course.desk.questions
    return question


@pytest.mark.parametrize("minutes", [0, 30])
@pytest.mark.parametrize("writes", [True, False])
async def test_the_line_of_a_killed_process_becomes_the_answer_of_the_next(
    minutes: int, writes: bool
) -> None:
    """Whether it begins the answer anew or has only to deliver it, and however late it is."""
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.troubles.on(DELETE, Trouble(status=403))
        async with running(course):
            question = await lost_while_writing(course)
        course.desk = DiscordDesk()
        course.desk.shows_progress = writes
        peer.routes.forget_nonces()
        async with running(course):
            heard_at = question.heard_at - minutes * MINUTE
            await course.desk.accept(replace(question, heard_at=heard_at))
            await course.answered()
        (answer,) = peer.seen_in(int(question.message_id))
        assert answer.content.startswith("Ten a day [1].")
        peer.forgive()  # the thread was there already


async def test_the_line_of_a_killed_process_goes_with_a_question_that_is_taken_back() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.troubles.on(DELETE, Trouble(status=403))
        async with running(course):
            question = await lost_while_writing(course)
        assert peer.seen_in(int(question.message_id))
        course.desk = DiscordDesk()
        async with running(course):
            assert course.platform is not None
            await course.platform.replies.clear(question)
        assert not peer.seen_in(int(question.message_id))
        peer.forgive()  # the thread was there already


async def test_a_line_that_was_sent_without_our_hearing_of_it_becomes_the_answer() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, request_seconds=0.3):
            peer.troubles.on(SEND, Trouble(hang=True, takes_effect=True))
            asked = await ask(course)
            await reach(course, QuestionState.RETRIEVING)
            await course.until(lambda: seen(course, asked))
            course.desk.thinks.set()
            await course.answered()
            (answer,) = seen(course, asked)
            assert "Ten a day" in answer


async def test_a_line_that_somebody_deleted_is_no_loss() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        await reach(course, QuestionState.RETRIEVING)
        (line,) = await course.until(lambda: course.peer.seen_in(asked.id))
        course.peer.world.channels[asked.id].notes.remove(line)
        course.desk.thinks.set()
        await course.answered()
        (answer,) = seen(course, asked)
        assert "Ten a day" in answer
        assert all("10008" in refusal for refusal in course.peer.forgive())


async def test_the_text_is_shown_as_it_is_written_and_the_latest_wins() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        assert course.desk.progress is not None
        await reach(course, QuestionState.GENERATING)
        words = [f"word-{number} " for number in range(300)]
        for word in words:
            await course.desk.progress.text(word)
        await course.until(lambda: "word-299" in "".join(seen(course, asked)))
        assert len(peer_edits(course)) < 5
        (text,) = seen(course, asked)
        assert len(text) <= 2_000
        assert text.endswith("-# ✍️ Writing the answer…")
        await course.desk.progress.text("Anew.", restart=True)
        await course.until(lambda: seen(course, asked)[0].startswith("Anew."))
        course.desk.thinks.set()
        await course.answered()
        (answer,) = seen(course, asked)
        assert answer.startswith("Ten a day [1].")


async def test_a_finer_word_of_a_stage_is_shown() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        assert course.desk.progress is not None
        await course.desk.progress.stage(QuestionState.GENERATING, "Still working… @everyone")
        (line,) = await course.until(lambda: course.peer.seen_in(asked.id))
        assert line.content.startswith("-# ✍️ Still working…")
        assert line.pinged == ()
        course.desk.thinks.set()
        await course.answered()


def peer_edits(course: Course) -> list[object]:
    return course.peer.bodies(EDIT)
