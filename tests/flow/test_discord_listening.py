"""Where the bot listens on Discord, and where it does not."""

from __future__ import annotations

import asyncio

import pytest

from rag_core.agent.requests import ANSWER_THIS
from rag_core.books.policy import ChannelPolicy
from rag_core.conversation.context import ContextItem, ContextKind
from rag_core.conversation.key import Platform, TenantId
from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, on_a_course, running
from tests.peers.discord import HISTORY, SEND, open_discord_peer
from tests.peers.discord_limits import Trouble
from tests.peers.discord_world import FORUM, Channel, Note

QUESTION = "How many questions may I ask a day?"


class PolicyTable:
    """Says for each channel or category what holds there."""

    def __init__(self) -> None:
        self.kept: dict[str, ChannelPolicy] = {}

    async def policy_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> ChannelPolicy:
        nowhere = ChannelPolicy()
        return self.kept.get(channel_id) or self.kept.get(category_id) or nowhere

    def opt_in(self, place: int) -> None:
        self.kept[str(place)] = ChannelPolicy(auto_answer=True)


async def ask(course: Course, text: str = QUESTION) -> Note:
    asked = await course.peer.say(course.channel, course.alice, text, mentions_bot=True)
    await course.answered(len(course.desk.delivered) + 1)
    return asked


async def a_forum(course: Course) -> Channel:
    forum = course.peer.world.text_channel(course.guild, "questions", kind=FORUM)
    await course.peer.routes.publish("CHANNEL_CREATE", forum.as_json())
    return forum


async def test_a_channel_that_opted_in_is_answered_without_a_mention() -> None:
    policies = PolicyTable()
    async with on_a_course(policies=policies) as course:
        policies.opt_in(course.channel.id)
        other = course.peer.world.text_channel(course.guild, "lounge")
        await course.peer.routes.publish("CHANNEL_CREATE", other.as_json())
        await course.peer.say(other, course.alice, QUESTION)
        asked = await course.peer.say(course.channel, course.alice, QUESTION)
        await course.answered()
        assert len(course.peer.seen_in(asked.id)) == 1
        await course.peer.say(course.channel, course.bob, f"<@{course.alice.id}> ten, I think.")
        await course.peer.say(course.channel, course.bob, "It is ten.", reply_to=asked)
        await course.peer.say(course.channel, course.alice, "Thanks a lot!")
        await course.quiet()
        assert course.desk.texts == [QUESTION]


async def test_talk_in_a_channel_that_opted_in_is_left_alone() -> None:
    policies = PolicyTable()
    async with on_a_course(policies=policies) as course:
        policies.opt_in(course.channel.id)
        for talk in ("Good morning everyone", "Lunch is ready", "ok", "We meet at noon."):
            await course.peer.say(course.channel, course.bob, talk)
        for text in (QUESTION, "how do I log in", "My robot doesn't start"):
            await course.peer.say(course.channel, course.alice, text)
        await course.answered(3)
        assert sorted(course.desk.texts) == sorted(
            [QUESTION, "how do I log in", "My robot doesn't start"]
        )


async def test_an_allowed_bot_is_answered_at_a_pace() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        relay = peer.world.person("relay", bot=True)
        async with running(course, allowed_bots=frozenset({str(relay.id)})):
            await ask(course)
            thread = peer.world.channels[int(course.desk.questions[0].message_id)]
            for number in range(12):
                await peer.say(thread, relay, f"{QUESTION} {number}", mentions_bot=True)
            for number in range(7):
                await peer.say(thread, course.alice, f"And on day {number}?", mentions_bot=True)
            await course.answered(1 + 5 + 7)
        assert [q.asker_id for q in course.desk.questions].count(str(relay.id)) == 5


async def test_a_mention_in_a_thread_of_people_reads_that_thread() -> None:
    async with on_a_course() as course:
        peer = course.peer
        head = await peer.say(course.channel, course.bob, "How do I close the gripper?")
        thread = peer.world.thread(course.channel, "Gripper", owner=course.bob, like=head.id)
        await peer.routes.publish("THREAD_CREATE", thread.as_json())
        await peer.say(thread, course.bob, "It stays open since Monday.")
        await peer.say(thread, course.alice, "no idea, sorry")
        await peer.say(thread, course.alice, "", mentions_bot=True)
        await course.answered()
        (question,) = course.desk.questions
        assert question.question.message == ANSWER_THIS
        alice, bob = str(course.alice.id), str(course.bob.id)
        assert [(item.kind, item.author, item.text) for item in question.question.context] == [
            (ContextKind.THREAD, bob, "How do I close the gripper?"),
            (ContextKind.THREAD, bob, "It stays open since Monday."),
            (ContextKind.THREAD, alice, "no idea, sorry"),
        ]
        await peer.say(thread, course.bob, "Did Monday bring an update?")
        await peer.say(thread, course.alice, "And how do I open it?")
        await course.answered(2)
        assert course.desk.texts == [ANSWER_THIS, "And how do I open it?"], "only who asked it"


async def test_a_thread_that_cannot_be_read_is_answered_all_the_same() -> None:
    async with on_a_course() as course:
        peer = course.peer
        thread = peer.world.thread(course.channel, "Gripper", owner=course.bob)
        await peer.routes.publish("THREAD_CREATE", thread.as_json())
        await peer.say(thread, course.bob, "It stays open since Monday.")
        peer.troubles.on(HISTORY, Trouble(status=403, code=50001), times=2)
        await peer.say(thread, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        (question,) = course.desk.questions
        assert (question.question.message, question.question.context) == (QUESTION, ())


async def test_a_mention_in_reply_to_a_message_reads_that_message() -> None:
    async with on_a_course() as course:
        asked = await course.peer.say(course.channel, course.bob, "How do I close the gripper?")
        await course.peer.say(
            course.channel, course.alice, "do you know?", mentions_bot=True, reply_to=asked
        )
        await course.answered()
        (question,) = course.desk.questions
        assert question.question.message == "do you know?"
        assert question.question.context == (
            ContextItem(
                kind=ContextKind.REPLY,
                author=str(course.bob.id),
                text="How do I close the gripper?",
            ),
        )


async def test_a_category_that_opted_in_counts_for_its_channels_and_is_told_to_the_desk() -> None:
    policies = PolicyTable()
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk(), parts={"policies": policies})
        course.channel.category_id = 4711
        policies.opt_in(4711)
        async with running(course):
            await peer.say(course.channel, course.alice, QUESTION)
            await course.answered()
        assert course.desk.questions[0].category_id == "4711"


async def test_a_post_in_a_forum_that_opted_in_is_read_with_its_title_and_tags() -> None:
    policies = PolicyTable()
    async with on_a_course(policies=policies) as course:
        forum = await a_forum(course)
        await course.peer.begin_post(forum, course.alice, "Nobody opted in", "Is it so?")
        await course.quiet()
        policies.opt_in(forum.id)
        tag = course.peer.world.tag(forum, "Motors")
        await course.peer.routes.publish("CHANNEL_UPDATE", forum.as_json())
        post = await course.peer.begin_post(
            forum, course.alice, "Gripper does not close", "What can I do?", tag
        )
        await course.answered()
        (text,) = course.desk.texts
        assert text == "Gripper does not close (tags: Motors)\n\nWhat can I do?"
        assert len(course.peer.seen_in(post.id)) == 1
        assert course.desk.questions[0].key.channel_id == str(forum.id)


async def test_in_a_post_only_who_began_it_goes_on_asking_without_a_mention() -> None:
    policies = PolicyTable()
    async with on_a_course(policies=policies) as course:
        forum = await a_forum(course)
        policies.opt_in(forum.id)
        post = await course.peer.begin_post(forum, course.alice, "Limits", QUESTION)
        await course.answered()
        await course.peer.say(post, course.bob, "I had that too, with the old one.")
        await course.quiet()
        assert len(course.desk.questions) == 1
        await course.peer.say(post, course.alice, "And on Sundays?")
        await course.answered(2)
        assert course.desk.texts[1] == "And on Sundays?"


async def test_a_post_that_cannot_be_written_to_yet_is_answered_a_moment_later() -> None:
    policies = PolicyTable()
    async with on_a_course(policies=policies) as course:
        forum = await a_forum(course)
        policies.opt_in(forum.id)
        course.peer.troubles.on(SEND, Trouble(status=400, code=40058), times=2)
        post = await course.peer.begin_post(forum, course.alice, "Limits", QUESTION)
        await course.answered()
        assert len(course.peer.seen_in(post.id)) == 1
        assert all(refusal.retryable for refusal in course.desk.refusals)
        assert len(course.desk.refusals) == 2


async def test_thanks_in_its_thread_are_no_question() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        for words in ("Thanks!", "perfect", "Vielen Dank!", "Great, thank you so much"):
            await course.peer.say(thread, course.alice, words)
        await course.quiet()
        assert course.desk.texts == [QUESTION]


async def test_what_somebody_else_answers_before_the_bot_begins_is_left_alone() -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        thread = course.peer.world.channels[asked.id]
        course.desk.thinks.clear()
        await course.peer.say(thread, course.alice, "In work?")
        await course.until(lambda: len(course.desk.questions) == 2)
        await asyncio.sleep(0.05)
        await course.peer.say(thread, course.alice, "And on Sundays?")
        await course.until(lambda: len(course.desk.questions) == 3)
        from_bob = await course.peer.say(thread, course.bob, "Sundays are free.")
        await course.until(lambda: course.desk.withdrawn)
        course.desk.thinks.set()
        await course.answered(2)
        assert [question.question.message for question in course.desk.withdrawn] == [
            "And on Sundays?"
        ]
        assert from_bob.author is course.bob


async def test_direct_messages_can_be_switched_off() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, direct_messages=False):
            await peer.say(peer.world.direct(course.alice), course.alice, QUESTION)
            await course.quiet()
            await ask(course)
        assert len(course.desk.questions) == 1


async def test_bots_and_webhooks_that_are_on_the_list_are_answered_and_no_others() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        bridge = peer.world.person("bridge", webhook=True)
        relay = peer.world.person("relay", bot=True)
        stranger = peer.world.person("stranger", bot=True)
        allowed = frozenset({str(bridge.id), str(relay.id), str(peer.world.bot.id)})
        async with running(course, allowed_bots=allowed):
            for author in (stranger, peer.world.bot, bridge, relay):
                await peer.say(course.channel, author, QUESTION, mentions_bot=True)
            await course.answered(2)
            await course.quiet()
        assert {q.asker_id for q in course.desk.questions} == {str(bridge.id), str(relay.id)}


@pytest.mark.parametrize("kind", ["text/x-python; charset=utf-8", None])
async def test_a_text_file_is_context_of_the_question(kind: str | None) -> None:
    async with on_a_course() as course:
        file = course.peer.attach("limits.py", b"LIMIT = 10\n", kind)
        await course.peer.say(
            course.channel, course.alice, "What is wrong?", mentions_bot=True, attachments=[file]
        )
        await course.answered()
        (question,) = course.desk.questions
        assert question.question.message == "What is wrong?"
        assert question.question.context == (
            ContextItem(kind=ContextKind.ATTACHMENT, text="limits.py:\nLIMIT = 10"),
        )


async def test_a_file_alone_can_be_the_question() -> None:
    async with on_a_course() as course:
        file = course.peer.attach("message.txt", b"How many questions a day? " * 60)
        await course.peer.say(
            course.channel, course.alice, "", mentions_bot=True, attachments=[file]
        )
        await course.answered()
        assert "How many questions a day?" in course.desk.texts[0]
        assert len(course.desk.texts[0]) <= 1_000


async def test_a_picture_gets_one_sentence_and_the_words_are_answered() -> None:
    async with on_a_course() as course:
        files = [course.peer.attach(f"{n}.png", b"\x89PNG\0", "image/png") for n in range(2)]
        asked = await course.peer.say(
            course.channel, course.alice, QUESTION, mentions_bot=True, attachments=files
        )
        await course.answered()
        (answer,) = course.peer.seen_in(asked.id)
        assert answer.content.count("no pictures") == 1
        assert course.desk.texts == [QUESTION]


async def test_of_a_long_file_no_more_than_its_beginning_is_fetched() -> None:
    async with on_a_course() as course:
        file = course.peer.attach("long.log", b"x" * 3_000_000)
        asked = await course.peer.say(
            course.channel, course.alice, QUESTION, mentions_bot=True, attachments=[file]
        )
        await course.answered()
        (answer,) = course.peer.seen_in(asked.id)
        assert "the first 20 kB" in answer.content
        assert len(course.desk.texts[0]) <= 1_000


@pytest.mark.parametrize("content", [None, b"PK\0\1"])
async def test_a_file_that_cannot_be_read_is_said_to_be_unread(content: bytes | None) -> None:
    async with on_a_course() as course:
        file = course.peer.attach("a.txt", content or b"")
        if content is None:
            course.peer.files.clear()
        asked = await course.peer.say(
            course.channel, course.alice, QUESTION, mentions_bot=True, attachments=[file]
        )
        await course.answered()
        assert course.desk.texts == [QUESTION]
        assert "no other files" in course.peer.seen_in(asked.id)[0].content


async def test_files_of_messages_that_are_not_for_us_are_not_fetched() -> None:
    async with on_a_course(policies=PolicyTable()) as course:
        file = course.peer.attach("a.txt", b"text")
        await course.peer.say(course.channel, course.alice, "Look at this", attachments=[file])
        await course.quiet()
        assert course.peer.fetched == []
        assert course.desk.questions == []
