"""Questions on Discord, through the real client library: heard, answered once, in their place."""

from __future__ import annotations

import pytest

from adapters.discord.config import DiscordConfig
from rag_core.conversation.context import ContextKind
from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, on_a_course, running
from tests.peers.discord import HISTORY, SEND, START_THREAD, TYPING, open_discord_peer
from tests.peers.discord_world import FORUM, RENAMED, Note

QUESTION = "How many questions may I ask a day?"


async def ask(course: Course, text: str = QUESTION) -> Note:
    """Alice mentions the bot in the channel, and has her answer."""
    asked = await course.peer.say(course.channel, course.alice, text, mentions_bot=True)
    before = len(course.desk.delivered)
    await course.answered(before + 1)
    return asked


async def test_a_mention_is_answered_once_in_a_thread_named_like_the_question() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        assert thread.name == QUESTION
        assert thread.parent is course.channel
        (answer,) = course.peer.seen_in(asked.id)
        assert "Ten a day [1]." in answer.content
        assert "[1] [Limits › Daily](<https://docs.example/limits#daily>)" in answer.content
        assert course.peer.seen_in(course.channel.id) == []
        assert course.desk.texts == [QUESTION]


@pytest.mark.parametrize("mention", ["<@{}>", "<@!{}>"])
async def test_a_mention_counts_where_only_the_text_has_it(mention: str) -> None:
    async with on_a_course() as course:
        text = f"{mention.format(course.peer.world.bot.id)}, {QUESTION}"
        await course.peer.say(course.channel, course.alice, text, listed=False)
        await course.answered()
        assert course.desk.texts == [QUESTION]


async def test_a_mention_of_the_bots_own_role_counts() -> None:
    async with on_a_course() as course:
        role = course.guild.bot_role_id
        await course.peer.say(course.channel, course.alice, f"<@&{role}> {QUESTION}", roles=(role,))
        await course.answered()
        assert course.desk.texts == [QUESTION]


async def test_names_of_people_and_channels_are_read_as_words() -> None:
    async with on_a_course() as course:
        text = f"did <@{course.bob.id}> say in <#{course.channel.id}> <:wave:123> that?"
        await ask(course, text)
        assert course.desk.texts == ["did @bob say in #help :wave: that?"]


async def test_a_message_delivered_again_is_one_question() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        await course.peer.repeat(asked)
        await course.until(lambda: course.desk.repeats == 1)
        await course.quiet()
        assert len(course.desk.delivered) == 1
        assert len(course.peer.seen_in(asked.id)) == 1


async def test_a_follow_up_in_its_thread_needs_no_mention() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        more = await course.peer.say(thread, course.bob, "And on Sundays?")
        await course.answered(2)
        first, second = course.desk.questions
        assert first.key == second.key
        assert first.position < second.position
        assert second.asker_id == str(course.bob.id)
        reply = course.peer.seen_in(asked.id)[-1]
        assert reply.reference is more
        assert reply.pinged == ()


async def test_a_follow_up_after_a_restart_is_heard_in_somebody_elses_thread() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        thread = peer.world.thread(course.channel, "Homework", owner=course.bob)
        async with running(course):
            await peer.say(thread, course.bob, "When is it due?")
            await peer.say(thread, course.alice, QUESTION, mentions_bot=True)
            await course.answered()
        async with running(course):
            await peer.say(thread, course.alice, "And on Sundays?")
            await course.answered(2)
        assert course.desk.texts == [QUESTION, "And on Sundays?"]
        assert {q.key.thread_id for q in course.desk.questions} == {str(thread.id)}
        assert START_THREAD not in {call.route for call in peer.calls}


async def test_what_is_said_to_somebody_else_in_its_thread_is_left_alone() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        from_bob = await course.peer.say(thread, course.bob, f"<@{course.alice.id}> it is ten.")
        await course.peer.say(thread, course.alice, "Are you sure?", reply_to=from_bob)
        await course.quiet()
        assert course.desk.texts == [QUESTION]


async def test_a_direct_message_is_answered_there() -> None:
    async with on_a_course() as course:
        direct = course.peer.world.direct(course.alice)
        asked = await course.peer.say(direct, course.alice, QUESTION)
        await course.answered()
        (answer,) = course.peer.seen_in(direct.id)
        assert answer.reference is asked
        key = course.desk.questions[0].key
        assert key.channel_id == key.thread_id == str(direct.id)
        await course.peer.say(direct, course.alice, "And on Sundays?")
        await course.answered(2)
        assert course.desk.questions[1].key == key


async def test_a_reply_to_the_bot_is_a_question() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        answer = course.peer.seen_in(asked.id)[0]
        thread = course.peer.world.channels[asked.id]
        await course.peer.say(
            thread, course.bob, "Is that per person?", reply_to=answer, listed=False
        )
        await course.answered(2)
        assert course.desk.texts[-1] == "Is that per person?"


async def test_bots_webhooks_and_itself_are_never_answered() -> None:
    async with on_a_course() as course:
        world = course.peer.world
        for stranger in (
            world.person("other bot", bot=True),
            world.person("news", webhook=True),
            world.bot,
        ):
            await course.peer.say(course.channel, stranger, QUESTION, mentions_bot=True)
        await course.peer.say(course.channel, course.alice, QUESTION)
        await course.quiet()
        assert course.desk.questions == []
        assert course.peer.bodies(SEND) == []


async def test_what_discord_itself_says_in_a_thread_is_no_question() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        await course.peer.say(thread, course.alice, "Limits: what are they?", kind=RENAMED)
        await course.quiet()
        assert course.desk.texts == [QUESTION]


async def test_a_bare_mention_is_greeted() -> None:
    async with on_a_course() as course:
        await ask(course, "\u200b")
        assert course.desk.texts == ["Hello!"]


async def test_a_mention_with_nothing_but_a_file_is_told_so_once() -> None:
    async with on_a_course() as course:
        picture = {
            "id": "1",
            "filename": "error.png",
            "size": 1,
            "url": "https://cdn.example/error.png",
            "proxy_url": "https://cdn.example/error.png",
        }
        sent = await course.peer.say(
            course.channel, course.alice, "", mentions_bot=True, attachments=[picture]
        )
        await course.until(lambda: course.peer.seen_in(course.channel.id))
        await course.peer.repeat(sent)
        await course.until(lambda: len(course.peer.bodies(SEND)) == 2)
        (told,) = course.peer.seen_in(course.channel.id)
        assert told.reference is sent
        assert course.desk.questions == []


async def test_a_pasted_log_is_context_beside_its_question() -> None:
    async with on_a_course() as course:
        log = "Traceback:\n" + "  File x.py, line 1\n" * 90 + "KeyError: 'token'"
        asked = await ask(course, f"Why does this fail?\n{log}")
        (question,) = course.desk.questions
        assert question.question.message == "Why does this fail?"
        [paste] = question.question.context
        assert (paste.kind, paste.text) == (ContextKind.PASTE, log)
        assert question.original_length == len(log) + len("Why does this fail?\n")
        assert course.peer.world.channels[asked.id].name == "Why does this fail?"


async def test_nothing_is_shown_as_received_that_the_desk_did_not_take() -> None:
    async with on_a_course() as course:
        course.desk.out_of_order_for = 6
        for text in (QUESTION, "And on Sundays?"):
            await course.peer.say(course.channel, course.alice, text, mentions_bot=True)
        await course.until(lambda: course.desk.out_of_order_for == 0)
        (told,) = await course.until(lambda: course.peer.seen_in(course.channel.id))
        assert "ask again" in told.content
        await course.quiet()
        assert {call.route for call in course.peer.calls}.isdisjoint({TYPING, START_THREAD})
        assert len(course.peer.bodies(SEND)) == 1
        await ask(course)


async def test_a_follow_up_that_the_desk_did_not_take_is_not_dropped_without_a_word() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        course.desk.out_of_order_for = 100
        await course.peer.say(thread, course.alice, "And on Sundays?")
        await course.until(lambda: "ask again" in course.peer.seen_in(asked.id)[-1].content)


async def test_a_desk_that_fails_for_a_moment_loses_nothing() -> None:
    async with on_a_course() as course:
        course.desk.out_of_order_for = 2
        await ask(course)
        assert course.desk.texts == [QUESTION]


async def test_typing_is_shown_in_the_thread_while_the_answer_is_written() -> None:
    async with on_a_course() as course:
        course.desk.thinks.clear()
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.until(lambda: asked.id in course.peer.routes.typing)
        assert course.peer.seen_in(asked.id) == []
        course.desk.thinks.set()
        await course.answered()


async def test_a_message_in_a_thread_that_the_bot_has_not_seen_yet_is_placed() -> None:
    async with on_a_course() as course:
        thread = course.peer.world.thread(course.channel, "An old one", owner=course.bob)
        await course.peer.say(thread, course.bob, QUESTION, mentions_bot=True)
        await course.answered()
        key = course.desk.questions[0].key
        assert (key.channel_id, key.thread_id) == (str(course.channel.id), str(thread.id))


async def test_a_forum_post_is_answered_in_the_post() -> None:
    async with on_a_course() as course:
        forum = course.peer.world.text_channel(course.guild, "questions", kind=FORUM)
        post = course.peer.world.thread(forum, "Limits?", owner=course.alice)
        await course.peer.say(post, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        assert len(course.peer.seen_in(post.id)) == 1


async def test_every_message_pings_nobody_shows_no_preview_and_carries_its_key() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        await course.peer.say(thread, course.alice, "And on Sundays?")
        await course.answered(2)
        bodies = course.peer.bodies(SEND)
        assert len(bodies) == 2
        for body in bodies:
            assert body["allowed_mentions"] == {"parse": []}
            assert len(body["nonce"]) == 24
            assert body["enforce_nonce"] is True
            assert body["flags"] == 1 << 2
        assert len({body["nonce"] for body in bodies}) == 2
        assert HISTORY not in {call.route for call in course.peer.calls}


def test_a_config_never_shows_its_token() -> None:
    assert "secret-token" not in repr(DiscordConfig(token="secret-token"))
