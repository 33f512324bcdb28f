"""Questions on Discord, through the real client library: heard, answered once, in their place."""

from __future__ import annotations

from tests.flow.discord_flow import on_a_course
from tests.peers.discord import SEND, START_THREAD

QUESTION = "How many questions may I ask a day?"


async def test_a_mention_is_answered_once_in_a_thread_named_like_the_question() -> None:
    async with on_a_course() as course:
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        thread = course.peer.world.channels[asked.id]
        assert thread.name == QUESTION
        assert thread.parent is course.channel
        answers = course.peer.seen_in(asked.id)
        assert len(answers) == 1
        assert "Ten a day [1]." in answers[0].content
        assert "[Limits › Daily](<https://docs.example/limits#daily>)" in answers[0].content
        assert course.peer.seen_in(course.channel.id) == []
        assert course.desk.texts == [QUESTION]
