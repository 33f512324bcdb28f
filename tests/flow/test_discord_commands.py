"""Commands on Discord, through the real client library: acknowledged at once, answered once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adapters.discord.acting.commands import ANSWER_THIS
from rag_core.books.policy import ChannelPolicy
from rag_core.errors import InvalidQuestion, UpstreamUnavailable
from tests.builders import a_response, a_result
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.discord_shelf import Shelf
from tests.flow.discord_flow import Course, on_a_course, running
from tests.peers.discord import SEND, open_discord_peer
from tests.peers.discord_interactions import CALLBACK, DEFER, FOLLOW_UP, ORIGINAL, Interaction
from tests.peers.discord_limits import Trouble
from tests.peers.discord_world import Person

QUESTION = "How many questions may I ask a day?"
LONG = "\n\n".join(f"Paragraph {number}: " + "word " * 100 for number in range(12))
REGISTER = "PUT /applications/:a/commands"
AN_HOUR = 3_600.0


async def ask(course: Course, text: str = QUESTION, **options: object) -> Interaction:
    actions = course.peer.interactions
    return await actions.slash(course.channel, course.alice, "ask", question=text, **options)


async def test_ask_is_acknowledged_at_once_and_answered_when_the_answer_is_there() -> None:
    async with on_a_course() as course:
        course.desk.thinks.clear()
        asked = await ask(course)
        await course.until(lambda: asked.callback == DEFER)
        assert asked.shown == []
        course.desk.thinks.set()
        await course.answered()
        (answer,) = asked.shown
        assert answer.content.startswith(f"> {QUESTION}\n")
        assert "Ten a day [1]." in answer.content
        assert "[1] [Limits › Daily](<https://docs.example/limits#daily>)" in answer.content
        assert course.peer.seen_in(course.channel.id) == [answer]
        assert course.desk.texts == [QUESTION]


async def test_a_long_answer_follows_below_and_pings_nobody() -> None:
    desk = DiscordDesk(lambda _: a_response(f"@everyone <@1> {LONG}"))
    async with on_a_course(desk) as course:
        asked = await ask(course, "Is it @everyone?")
        await course.answered()
        assert len(asked.shown) == 4
        assert [text.splitlines()[-1] for text in asked.texts] == [f"-# {n}/4" for n in range(1, 5)]
        assert all(note.pinged == () and note.flags & 4 for note in asked.shown)
        bodies = course.peer.bodies(FOLLOW_UP) + course.peer.bodies(f"PATCH {ORIGINAL}")
        assert all(body["allowed_mentions"] == {"parse": []} for body in bodies)


async def test_a_private_answer_is_seen_by_the_asker_alone_in_all_its_parts() -> None:
    async with on_a_course(DiscordDesk(lambda _: a_response(LONG))) as course:
        asked = await ask(course, private=True)
        await course.answered()
        assert asked.private
        assert len(asked.shown) == 4
        assert course.peer.seen_in(course.channel.id) == []
        assert course.desk.questions[0].private


async def test_a_module_narrows_the_question() -> None:
    async with on_a_course() as course:
        await ask(course, module="ros-2")
        await course.answered()
        assert course.desk.questions[0].question.filters.module == "ros-2"


async def test_ask_in_a_thread_belongs_to_its_conversation_unless_it_is_private() -> None:
    async with on_a_course() as course:
        world = course.peer.world
        thread = world.thread(course.channel, "limits", owner=course.alice)
        await course.peer.routes.publish("THREAD_CREATE", thread.as_json())
        for private in (False, True):
            await course.peer.interactions.slash(
                thread, course.alice, "ask", question=QUESTION, private=private
            )
        await course.answered(2)
        open_one, private_one = course.desk.questions
        assert (open_one.key.channel_id, open_one.key.thread_id) == (
            str(course.channel.id), str(thread.id)
        )  # fmt: skip
        assert private_one.key.thread_id not in {str(thread.id), str(course.channel.id)}


async def test_ask_works_in_a_direct_conversation() -> None:
    async with on_a_course() as course:
        direct = course.peer.world.direct(course.alice)
        asked = await course.peer.interactions.slash(direct, course.alice, "ask", question=QUESTION)
        await course.answered()
        assert len(asked.shown) == 1
        assert course.desk.questions[0].key.tenant == "direct"


@pytest.mark.parametrize("minutes", [16, 60])
async def test_after_fifteen_minutes_the_answer_comes_as_a_message(minutes: int) -> None:
    async with on_a_course(DiscordDesk(lambda _: a_response(LONG))) as course:
        course.desk.thinks.clear()
        asked = await ask(course)
        await course.until(lambda: asked.callback)
        course.peer.clock.move(60.0 * minutes)
        course.desk.thinks.set()
        await course.answered()
        assert asked.shown == []
        answers = [note for note in course.peer.seen_in(course.channel.id) if note.content]
        assert len(answers) == 4
        assert all("50027" in refusal for refusal in course.peer.forgive())


async def test_after_fifteen_minutes_a_private_answer_comes_as_a_direct_message() -> None:
    async with on_a_course() as course:
        course.desk.thinks.clear()
        asked = await ask(course, private=True)
        await course.until(lambda: asked.callback)
        course.peer.clock.move(AN_HOUR)
        course.desk.thinks.set()
        await course.answered()
        direct = course.peer.world.direct(course.alice)
        assert len(course.peer.seen_in(direct.id)) == 1
        assert course.peer.seen_in(course.channel.id) == []
        assert all("50027" in refusal for refusal in course.peer.forgive())


@pytest.mark.parametrize("takes_effect", [True, False])
async def test_a_command_whose_acknowledgement_was_lost_is_answered_all_the_same(
    takes_effect: bool,
) -> None:
    async with on_a_course() as course:
        course.peer.troubles.on(CALLBACK, Trouble(reset=True, takes_effect=takes_effect))
        asked = await ask(course)
        await course.answered()
        answers = [note for note in course.peer.seen_in(course.channel.id) if note.content]
        assert len(answers) == 1
        assert (asked.shown == answers) is takes_effect
        assert all("10015" in refusal for refusal in course.peer.forgive())


async def test_a_command_that_is_heard_too_late_is_answered_by_a_message() -> None:
    async with on_a_course() as course:
        course.peer.troubles.on(CALLBACK, Trouble(status=429, retry_after=0.1))
        asked = await ask(course)
        course.peer.clock.move(4.0)
        await course.answered()
        assert asked.callback is None
        assert len(course.peer.seen_in(course.channel.id)) == 1
        assert {r.split()[3] for r in course.peer.forgive()} == {"10062", "10015"}


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("takes_effect", [True, False])
async def test_the_first_part_is_there_once_whatever_became_of_its_answer(
    private: bool, takes_effect: bool
) -> None:
    async with on_a_course() as course:
        trouble = Trouble(reset=True, takes_effect=takes_effect)
        course.peer.troubles.on(f"PATCH {ORIGINAL}", trouble)
        asked = await ask(course, private=private)
        await course.answered()
        assert len(asked.shown) == 1
        assert course.peer.bodies(SEND) == []


async def test_a_further_part_whose_answer_was_lost_is_found_in_the_channel() -> None:
    async with on_a_course(DiscordDesk(lambda _: a_response(LONG))) as course:
        course.peer.troubles.on(FOLLOW_UP, Trouble(reset=True, takes_effect=True))
        asked = await ask(course)
        await course.answered()
        assert len(asked.shown) == 4
        assert len(course.desk.found) == 1


async def test_a_desk_that_takes_nothing_says_so_to_who_asked() -> None:
    async with on_a_course() as course:
        course.desk.out_of_order_for = 100
        asked = await ask(course)
        (text,) = await course.until(lambda: asked.texts)
        assert "could not take questions" in text
        course.desk.out_of_order_for = 0


async def test_the_answer_to_a_command_survives_a_restart() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        course.desk.thinks.clear()
        async with running(course):
            asked = await ask(course)
            await course.until(lambda: course.desk.questions)
        (question,) = course.desk.questions
        course.desk = DiscordDesk()
        async with running(course):
            await course.desk.accept(question)
            await course.answered()
        assert len(asked.shown) == 1


async def test_the_menu_answers_the_message_that_was_pointed_at() -> None:
    async with on_a_course() as course:
        note = await course.peer.say(course.channel, course.bob, f"<@{course.alice.id}> {QUESTION}")
        asked = await course.peer.interactions.menu(note, course.alice, ANSWER_THIS)
        await course.answered()
        assert course.desk.texts == [f"@alice {QUESTION}"]
        assert course.desk.questions[0].asker_id == str(course.alice.id)
        assert len(asked.shown) == 1


async def test_a_picture_that_was_pointed_at_is_refused_with_a_private_sentence() -> None:
    async with on_a_course() as course:
        note = await course.peer.say(course.channel, course.bob, " ")
        asked = await course.peer.interactions.menu(note, course.alice, ANSWER_THIS)
        (text,) = await course.until(lambda: asked.texts)
        assert "put the question in words" in text
        assert asked.private
        assert course.desk.questions == []


async def test_lookup_shows_passages_with_links_to_who_looked_and_asks_no_model() -> None:
    shelf = Shelf(
        a_result("Ten a day."),
        a_result("Ten @everyone and <@1>.", rank=2, page_url=None, page_title="Else"),
    )
    async with on_a_course(lookup=shelf.lookup) as course:
        used = await course.peer.interactions.slash(
            course.channel, course.alice, "lookup", query="ten"
        )
        (note,) = await course.until(lambda: used.shown)
        assert used.private
        first, quote, second, *_ = note.content.splitlines()
        assert first == "1. [Limits › Daily](<https://docs.example/limits#daily>)"
        assert quote == "> Ten a day."
        assert second == "2. Else › Daily (limits.md)"
        assert note.pinged == ()
        assert course.desk.questions == []
        assert shelf.asked_for == [(str(course.guild.id), str(course.channel.id))]


async def test_lookup_shows_as_many_passages_as_a_message_holds() -> None:
    long = "*a* " * 200
    shelf = Shelf(*(a_result(long, rank=n, page_title="*" * 200) for n in range(1, 6)))
    async with on_a_course(lookup=shelf.lookup) as course:
        used = await course.peer.interactions.slash(
            course.channel, course.alice, "lookup", query="*a*"
        )
        (text,) = await course.until(lambda: used.texts)
        assert text.startswith("1. ")
        assert len(text) <= 1_900


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"passages": ()}, "no passage"),
        ({"books": None}, "No documents are chosen"),
        ({"trouble": UpstreamUnavailable("qdrant")}, "index is not available"),
        ({"trouble": InvalidQuestion("text", "text is odd.")}, "text is odd."),
    ],
)
async def test_lookup_says_in_a_sentence_why_it_shows_nothing(
    change: dict[str, object], words: str
) -> None:
    shelf = Shelf(a_result())
    for name, value in change.items():
        setattr(shelf, name, value)
    async with on_a_course(lookup=shelf.lookup) as course:
        used = await course.peer.interactions.slash(
            course.channel, course.alice, "lookup", query="ten"
        )
        (text,) = await course.until(lambda: used.texts)
        assert words in text


async def test_modules_are_proposed_while_one_is_typed() -> None:
    names = ["ros-2", "Robotics", "kinematics", "x" * 101, *(f"rob-{n}" for n in range(40))]
    async with on_a_course(lookup=Shelf(modules=names).lookup) as course:
        typing = await proposed(course, course.alice, "ro")
        assert [choice["value"] for choice in typing][:2] == ["ros-2", "Robotics"]
        assert len(typing) == 25
        assert await proposed(course, course.alice, "nothing") == []
        assert [c["name"] for c in await proposed(course, course.alice, "KINE")] == ["kinematics"]


NEVER = datetime.max.replace(tzinfo=UTC)


async def test_modules_are_proposed_within_the_places_policy_and_date() -> None:
    shelf = Shelf(modules=["open", "other", "secret"], released={"secret": NEVER})
    shelf.policy = ChannelPolicy(modules=("open", "secret"))
    async with on_a_course(lookup=shelf.lookup) as course:
        proposals = await proposed(course, course.alice, "")
        assert [choice["value"] for choice in proposals] == ["open"]


async def test_no_module_is_proposed_where_they_cannot_be_read() -> None:
    shelf = Shelf(modules=["ros-2"])
    shelf.trouble = UpstreamUnavailable("qdrant")
    async with on_a_course(lookup=shelf.lookup) as course:
        assert await proposed(course, course.alice, "ros") == []


async def proposed(course: Course, person: Person, typed: str) -> list[dict[str, str]]:
    typing = await course.peer.interactions.complete(course.channel, person, "ask", "module", typed)
    await course.until(lambda: typing.choices is not None)
    assert typing.choices is not None
    return typing.choices


async def test_commands_are_registered_once_and_again_when_they_change() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        for _ in range(2):
            async with running(course):
                await course.quiet()
        assert len(peer.bodies(REGISTER)) == 1
        course.parts["lookup"] = Shelf().lookup
        peer.gateway.sessions.clear()  # a new session, as after a longer break
        async with running(course):
            await course.until(lambda: len(peer.bodies(REGISTER)) == 2)
        assert [c["name"] for c in peer.bodies(REGISTER)[1]] == [
            "ask", "lookup", "footnote", ANSWER_THIS
        ]  # fmt: skip


async def test_commands_that_could_not_be_registered_are_registered_with_the_next_session() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.troubles.on(REGISTER, Trouble(status=403))
        async with running(course, identify_seconds=0.1):
            await course.until(lambda: course.peer.troubles.made)
            await peer.gateway.invalidate(resumable=False)
            await course.until(lambda: course.markers.knows_commands)
        assert len(peer.bodies(REGISTER)) == 2
