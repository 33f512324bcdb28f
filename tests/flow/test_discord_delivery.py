"""Answers on their way to Discord when it stumbles: each part is there once, or plainly refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.errors import UpstreamRejected, UpstreamUnavailable
from tests.builders import a_response
from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, on_a_course, running
from tests.peers.discord import HISTORY, SEND, START_THREAD, open_discord_peer
from tests.peers.discord_limits import Trouble
from tests.peers.discord_world import Note

QUESTION = "How many questions may I ask a day?"
LONG = "\n\n".join(f"Paragraph {number}: " + "word " * 100 for number in range(12))


async def ask(course: Course, text: str = QUESTION) -> Note:
    return await course.peer.say(course.channel, course.alice, text, mentions_bot=True)


async def over(course: Course, times: int = 1) -> None:
    """Every question is delivered or given up."""
    await course.until(lambda: len(course.desk.delivered) + len(course.desk.given_up) >= times)


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(reset=True, takes_effect=True),
        Trouble(hang=True, takes_effect=True),
        Trouble(status=503, takes_effect=True),
        Trouble(status=200, takes_effect=True),  # an answer that names no message
    ],
)
async def test_a_post_whose_answer_was_lost_is_found_and_not_repeated(trouble: Trouble) -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, request_seconds=0.3):
            peer.troubles.on(SEND, trouble)
            asked = await ask(course)
            await course.answered()
            (answer,) = peer.seen_in(asked.id)
            assert course.desk.found == [str(answer.id)]
            assert len(peer.bodies(SEND)) == 1


@pytest.mark.parametrize("trouble", [Trouble(reset=True), Trouble(status=503)])
async def test_a_post_that_never_arrived_is_sent_again(trouble: Trouble) -> None:
    async with on_a_course() as course:
        course.peer.troubles.on(SEND, trouble)
        asked = await ask(course)
        await course.answered()
        assert len(course.peer.seen_in(asked.id)) == 1
        assert course.desk.found == []


async def test_a_post_that_is_repeated_blindly_is_still_one_message() -> None:
    """The last line of defence: the same key is the same message for Discord too."""
    async with on_a_course() as course:
        course.peer.troubles.on(SEND, Trouble(reset=True, takes_effect=True))
        course.peer.troubles.on(HISTORY, Trouble(status=403))
        asked = await ask(course)
        await over(course)
        assert len(course.peer.seen_in(asked.id)) == 1


async def test_the_lost_part_of_a_long_answer_is_told_from_its_neighbours() -> None:
    same = "\n\n".join(["The same words again and again. " * 55] * 4)
    desk = DiscordDesk(lambda _: a_response(same))
    async with on_a_course(desk) as course:
        for takes_effect in (True, False, True):
            course.peer.troubles.on(SEND, Trouble(reset=True, takes_effect=takes_effect))
        asked = await ask(course)
        await course.answered()
        seen = course.peer.seen_in(asked.id)
        assert [str(note.id) for note in seen] == course.desk.delivered[0][1]
        assert len(seen) == 4
        assert [note.content.splitlines()[-1] for note in seen] == [
            f"-# {number}/4" for number in range(1, 5)
        ]


async def test_two_questions_with_the_same_answer_are_both_answered_though_answers_get_lost() -> (
    None
):
    async with on_a_course() as course:
        asked = await ask(course)
        await course.answered()
        thread = course.peer.world.channels[asked.id]
        course.desk.thinks.clear()
        follow_ups = [
            await course.peer.say(thread, course.alice, text) for text in ("Really?", "Sure?")
        ]
        for takes_effect in (True, False):
            course.peer.troubles.on(SEND, Trouble(reset=True, takes_effect=takes_effect))
        course.desk.thinks.set()
        await course.answered(3)
        answers = course.peer.seen_in(asked.id)
        assert [answer.reference for answer in answers] == [None, *follow_ups]


async def test_a_rate_limit_is_waited_for() -> None:
    async with on_a_course() as course:
        course.peer.troubles.on(SEND, Trouble(status=429, retry_after=0.2))
        asked = await ask(course)
        await course.answered()
        assert len(course.peer.seen_in(asked.id)) == 1
        assert len(course.peer.bodies(SEND)) == 2


async def test_a_wall_before_discord_is_a_refusal_that_says_when_to_come_back() -> None:
    async with on_a_course() as course:
        course.peer.troubles.on(SEND, Trouble(status=429, retry_after=0.2, via=False))
        asked = await ask(course)
        await course.answered()
        assert len(course.peer.seen_in(asked.id)) == 1
        (refusal,) = course.desk.refusals
        assert refusal.retryable
        assert refusal.retry_after == pytest.approx(0.2)


async def test_a_long_rate_limit_is_handed_back_instead_of_waited_for() -> None:
    async with on_a_course() as course:
        platform = course.platform
        assert platform is not None
        asked = await ask(course)
        await course.answered()
        part = OutgoingPart(question_id=uuid4(), number=0, payload='{"content": "a"}')
        course.peer.troubles.on(SEND, Trouble(status=429, retry_after=40.0))
        with pytest.raises(UpstreamRejected) as refused:
            await platform.replies.post(course.desk.questions[0], part)
        assert refused.value.retryable
        assert refused.value.retry_after == pytest.approx(40.0)
        assert len(course.peer.seen_in(asked.id)) == 1


async def test_a_refusal_after_a_try_without_an_end_leaves_open_what_was_posted() -> None:
    """The library tries again by itself; only the desk's look-up tells what the first try did."""
    async with on_a_course() as course:
        platform = course.platform
        assert platform is not None
        asked = await ask(course)
        await course.answered()
        part = OutgoingPart(question_id=uuid4(), number=0, payload='{"content": "a"}')
        course.peer.troubles.on(SEND, Trouble(status=502, takes_effect=True))
        course.peer.troubles.on(SEND, Trouble(status=429, retry_after=40.0))
        with pytest.raises(UpstreamUnavailable):
            await platform.replies.post(course.desk.questions[0], part)
        assert await platform.replies.find(course.desk.questions[0], part)
        assert len(course.peer.seen_in(asked.id)) == 2


async def test_a_long_answer_keeps_to_the_limits_that_discord_tells() -> None:
    desk = DiscordDesk(lambda _: a_response("word " * 8_000))
    async with on_a_course(desk) as course:
        asked = await ask(course)
        await course.answered()
        assert len(course.peer.seen_in(asked.id)) > 20
        assert course.peer.buckets.refused == 0


@pytest.mark.parametrize("lost", [True, False])
async def test_a_thread_whose_making_was_not_confirmed_is_used(lost: bool) -> None:
    async with on_a_course() as course:
        trouble = Trouble(reset=True, takes_effect=lost)
        course.peer.troubles.on(START_THREAD, trouble)
        course.peer.troubles.on(START_THREAD, trouble)
        asked = await ask(course)
        await course.answered()
        assert len(course.peer.seen_in(asked.id)) == 1
        assert course.peer.seen_in(course.channel.id) == []
        refusals = course.peer.forgive()
        assert sum("160004" in refusal for refusal in refusals) == int(lost)
        assert all("160004" in refusal or "10003" in refusal for refusal in refusals)


async def test_where_threads_are_not_allowed_the_answer_stands_below_the_question() -> None:
    desk = DiscordDesk(lambda _: a_response(LONG))
    async with on_a_course(desk) as course:
        course.channel.denied.add("CREATE_PUBLIC_THREADS")
        course.peer.troubles.on(SEND, Trouble(reset=True, takes_effect=True))
        asked = await ask(course)
        await course.answered()
        answers = course.peer.seen_in(course.channel.id)
        assert len(answers) == 4
        assert all(answer.reference is asked for answer in answers)
        assert course.desk.found == [str(answers[0].id)]
        assert sum("50013" in refusal for refusal in course.peer.forgive()) == 1


async def test_a_question_that_was_deleted_meanwhile_is_not_answered_in_the_channel() -> None:
    async with on_a_course() as course:
        course.desk.thinks.clear()
        course.peer.troubles.on(START_THREAD, Trouble(status=503))
        asked = await ask(course)
        await course.until(lambda: course.peer.troubles.made)
        course.channel.notes.remove(asked)
        course.desk.thinks.set()
        await over(course)
        assert course.desk.given_up == course.desk.questions
        assert course.peer.seen_in(course.channel.id) == []
        assert any("10008" in refusal for refusal in course.peer.forgive())


async def test_a_follow_up_that_was_deleted_meanwhile_does_not_break_the_thread() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        await course.answered()
        thread = course.peer.world.channels[asked.id]
        course.desk.thinks.clear()
        gone = await course.peer.say(thread, course.alice, "And on Sundays?")
        await course.until(lambda: len(course.desk.questions) == 2)
        thread.notes.remove(gone)
        course.desk.thinks.set()
        await course.answered(2)
        assert course.peer.seen_in(asked.id)[-1].reference is None


async def test_an_archived_thread_wakes_up_for_its_answer_and_a_locked_one_stays_closed() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        await course.answered()
        thread = course.peer.world.channels[asked.id]
        thread.archived = True
        await course.peer.say(thread, course.alice, "And on Sundays?")
        await course.answered(2)
        assert not thread.archived
        thread.archived = thread.locked = True
        await course.peer.say(thread, course.alice, "And on Mondays?")
        await course.answered(3)
        assert len(course.peer.seen_in(asked.id)) == 2
        assert len(course.peer.seen_in(course.peer.world.direct(course.alice).id)) == 1
        assert all("50083" in refusal for refusal in course.peer.forgive())


async def test_an_answer_can_be_posted_by_a_process_that_did_not_hear_the_question() -> None:
    """After a restart the ledger's questions are delivered before anything is listened to."""
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        course.desk.thinks.clear()
        async with running(course):
            asked = await ask(course)
            await course.until(lambda: course.desk.questions)
        question: IncomingQuestion = replace(course.desk.questions[0])
        course.desk = DiscordDesk()
        async with running(course):
            await course.desk.accept(question)
            await course.answered()
        assert len(peer.seen_in(asked.id)) == 1
        peer.forgive()  # the thread may have been there from the first process's typing sign


async def test_answers_in_many_threads_at_once_do_not_mix() -> None:
    desk = DiscordDesk(lambda question: a_response(f"About {question.question.message}"))
    async with on_a_course(desk) as course:
        asked = await asyncio.gather(*(ask(course, f"question {n}?") for n in range(20)))
        await course.answered(20)
        for number, question in enumerate(asked):
            (answer,) = course.peer.seen_in(question.id)
            assert f"About question {number}?" in answer.content


@pytest.mark.parametrize(
    "answer",
    [
        "word " * 20_000,
        "x" * 10_000,
        "汉字没有空格。" * 1_000,
        "👩🏽‍💻🏳️‍🌈🇩🇪" * 500,
        "```python\n" + "print('a line of code')\n" * 300 + "```",
        "| a | b |\n|---|---|\n" + "| cell | another |\n" * 300,
        "- item with words in it\n" * 300,
        "@everyone <@1> <#2> " * 300,
    ],
    ids=["words", "one word", "CJK", "emoji", "code", "table", "list", "mentions"],
)
async def test_any_long_answer_is_taken_in_order_and_pings_nobody(answer: str) -> None:
    async with on_a_course(DiscordDesk(lambda _: a_response(answer))) as course:
        asked = await ask(course)
        await course.answered()
        seen = course.peer.seen_in(asked.id)
        numbers = [note.content.splitlines()[-1] for note in seen]
        assert numbers == [f"-# {number}/{len(seen)}" for number in range(1, len(seen) + 1)]
        assert all(note.pinged == () for note in seen)
        shown = "".join("".join(note.content.split()) for note in seen).replace("\u200b", "")
        for sample in {answer[:20], answer[len(answer) // 2 :][:20], answer.rstrip("`\n |")[-8:]}:
            assert "".join(sample.split()) in shown
