"""Buttons below answers on Discord: they rate, show evidence and delete, after a restart too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from adapters.review import Review
from rag_core.agent.answer import Outcome
from rag_core.conversation.key import TenantId
from rag_core.errors import StorageError
from tests.builders import a_citation, a_response
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.ratings import Ratings
from tests.flow.discord_flow import Course, running
from tests.peers.discord import SEND, open_discord_peer
from tests.peers.discord_interactions import DEFER_UPDATE, FORM, Interaction
from tests.peers.discord_limits import Trouble
from tests.peers.discord_rules import nested
from tests.peers.discord_world import FORUM, Note, Person

QUESTION = "How many questions may I ask a day?"
LONG = "\n\n".join(f"Paragraph {number}: " + "word " * 100 for number in range(12))
DELETE = "DELETE /channels/:c/messages/:m"


@dataclass
class Rated:
    """A course whose answers have buttons, and what became of them."""

    course: Course
    ratings: Ratings
    notes: list[Note] = field(default_factory=list)

    @property
    def answer_id(self) -> UUID:
        return next(iter(self.course.desk.answers))

    async def ask(self) -> list[Note]:
        course = self.course
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered(len(course.desk.delivered) + 1)
        self.notes = course.peer.seen_in(asked.id)
        return self.notes

    async def press(self, label: str, person: Person | None = None) -> Interaction:
        who = person or self.course.alice
        pressed = await self.course.peer.interactions.press(self.notes[-1], who, label)
        await self.course.until(lambda: pressed.callback)
        return pressed

    async def told(self, pressed: Interaction) -> str:
        """What the person alone was told."""
        (text,) = await self.course.until(lambda: pressed.texts)
        assert pressed.private
        return str(text)

    def rating(self, person: Person) -> tuple[bool, str] | None:
        return self.ratings.kept.get((self.answer_id, str(person.id)))


def labels(note: Note) -> list[str]:
    return [item["label"] for item in nested(note.components) if "label" in item]


def review(course: Course, ratings: Ratings) -> Review:
    desk = course.desk
    return Review(answers=desk, feedback=ratings, desk=desk, markers=course.markers)


@asynccontextmanager
async def rated(
    desk: DiscordDesk | None = None, *, staff: str | None = None
) -> AsyncIterator[Rated]:
    async with open_discord_peer() as peer:
        course = Course(peer, desk or DiscordDesk())
        made = Rated(course, Ratings(lambda answer_id: answer_id in course.desk.answers))
        course.parts["review"] = review(course, made.ratings)
        course.guild.roles = {int(staff): "Tutors"} if staff else {}
        staffed = {str(course.guild.id): staff} if staff else {}
        async with running(course, staff_roles=staffed):
            yield made


async def test_the_buttons_stand_below_the_last_part_alone() -> None:
    async with rated(DiscordDesk(lambda _: a_response(LONG))) as scene:
        *first, last = await scene.ask()
        assert len(first) == 3
        assert all(note.components == [] for note in first)
        assert labels(last) == ["Helpful", "Not helpful", "Show evidence", "Delete"]


async def test_an_answer_to_a_command_has_them_too_and_a_private_one_no_delete() -> None:
    async with rated() as scene:
        course = scene.course
        for private in (False, True):
            asked = await course.peer.interactions.slash(
                course.channel, course.alice, "ask", question=QUESTION, private=private
            )
            await course.until(lambda asked=asked: asked.shown)
            assert ("Delete" in labels(asked.shown[0])) is not private
            assert "Helpful" in labels(asked.shown[0])


async def test_helpful_counts_once_a_person_and_is_thanked_in_private() -> None:
    async with rated() as scene:
        await scene.ask()
        for person in (scene.course.alice, scene.course.bob, scene.course.alice):
            assert "Thank you" in await scene.told(await scene.press("Helpful", person))
        assert len(scene.ratings.kept) == 2
        assert scene.rating(scene.course.bob) == (True, "")


async def test_not_helpful_counts_at_once_and_its_form_adds_the_reason() -> None:
    async with rated() as scene:
        await scene.ask()
        form = await scene.press("Not helpful")
        assert form.callback == FORM
        await scene.course.until(lambda: scene.rating(scene.course.alice) == (False, ""))
        sent = await scene.course.peer.interactions.submit(form, "It is about last year.")
        assert "Thank you" in await scene.told(sent)
        assert scene.rating(scene.course.alice) == (False, "It is about last year.")


async def test_another_click_changes_the_rating() -> None:
    async with rated() as scene:
        await scene.ask()
        await scene.press("Not helpful")
        await scene.course.until(lambda: scene.rating(scene.course.alice) == (False, ""))
        await scene.told(await scene.press("Helpful"))
        assert scene.rating(scene.course.alice) == (True, "")


async def test_buttons_and_open_forms_work_after_a_restart() -> None:
    async with rated() as scene:
        await scene.ask()
        form = await scene.press("Not helpful")
    course = scene.course
    async with open_discord_peer() as peer:  # the same buttons, on a bot that never saw them
        elsewhere = Course(peer, DiscordDesk())
        elsewhere.desk.answers = course.desk.answers
        elsewhere.parts["review"] = review(elsewhere, scene.ratings)
        peer.world.guilds[course.guild.id] = course.guild
        peer.world.channels |= course.peer.world.channels
        async with running(elsewhere):
            pressed = await peer.interactions.press(scene.notes[-1], course.bob, "Helpful")
            await peer.until(lambda: pressed.texts)
            sent = await peer.interactions.submit(form, "Too short.")
            await peer.until(lambda: sent.texts)
            shown = await peer.interactions.press(scene.notes[-1], course.bob, "Show evidence")
            (text,) = await peer.until(lambda: shown.texts)
    assert scene.rating(course.bob) == (True, "")
    assert scene.rating(course.alice) == (False, "Too short.")
    assert "> Ten a day." in text


async def test_evidence_shows_the_quoted_words_to_who_asked_for_them() -> None:
    citations = (
        a_citation(),
        a_citation(2, page_title="Else", page_url=None, quote="@everyone\n<@1> **knows**"),
    )
    async with rated(DiscordDesk(lambda _: a_response(citations=citations))) as scene:
        await scene.ask()
        pressed = await scene.press("Show evidence", scene.course.bob)
        lines = (await scene.told(pressed)).splitlines()
        assert lines[0] == "[1] [Limits › Daily](<https://docs.example/limits#daily>)"
        assert lines[1] == "> Ten a day."
        assert lines[2] == "[2] Else › Daily"
        assert "knows" in lines[3]
        assert "**" not in lines[3]
        assert pressed.shown[0].pinged == ()


async def test_much_evidence_comes_in_several_private_messages() -> None:
    citations = tuple(
        a_citation(number, quote=f"*Quote* {number}. " * 100) for number in range(1, 21)
    )
    async with rated(DiscordDesk(lambda _: a_response(citations=citations))) as scene:
        await scene.ask()
        pressed = await scene.press("Show evidence")
        await scene.course.until(lambda: "[20]" in "".join(pressed.texts))
        assert len(pressed.shown) > 2
        assert all(len(text) <= 1_900 for text in pressed.texts)
        whole = "".join(pressed.texts)
        assert all(f"[{number}] " in whole for number in range(1, 21))
        assert all(note.flags & 64 for note in pressed.follow_ups)


async def test_evidence_of_another_server_is_not_shown() -> None:
    async with rated() as scene:
        await scene.ask()
        ((answer_id, (response, key)),) = scene.course.desk.answers.items()
        other = type(key)(
            platform=key.platform,
            tenant=TenantId("999"),
            channel_id=key.channel_id,
            thread_id=key.thread_id,
        )
        scene.course.desk.answers[answer_id] = (response, other)
        assert "not stored" in await scene.told(await scene.press("Show evidence"))


async def test_delete_removes_every_part_for_the_asker_alone() -> None:
    async with rated(DiscordDesk(lambda _: a_response(LONG))) as scene:
        notes = await scene.ask()
        thread = notes[0].channel_id
        refused = await scene.press("Delete", scene.course.bob)
        (told,) = await scene.course.until(lambda: refused.follow_ups)
        assert "Only the person who asked" in told.content
        assert told.flags & 64
        assert len(scene.course.peer.seen_in(thread)) == 4
        assert (await scene.press("Delete")).callback == DEFER_UPDATE
        await scene.course.until(lambda: not scene.course.peer.seen_in(thread))


async def test_delete_removes_the_parts_of_a_command_and_no_others() -> None:
    async with rated(DiscordDesk(lambda _: a_response(LONG))) as scene:
        course = scene.course
        asked = [
            await course.peer.interactions.slash(
                course.channel, course.alice, "ask", question=QUESTION
            )
            for _ in range(2)
        ]
        await course.answered(2)
        kept, gone = asked[0].shown, asked[1].shown
        scene.notes = gone
        await scene.press("Delete")
        await course.until(lambda: len(course.peer.seen_in(course.channel.id)) == len(kept))
        assert course.peer.seen_in(course.channel.id) == kept


async def test_a_part_that_is_gone_already_does_not_keep_the_others() -> None:
    async with rated(DiscordDesk(lambda _: a_response(LONG))) as scene:
        notes = await scene.ask()
        scene.course.peer.world.channels[notes[0].channel_id].notes.remove(notes[1])
        await scene.press("Delete")
        await scene.course.until(lambda: not scene.course.peer.seen_in(notes[0].channel_id))
        assert all("10008" in refusal for refusal in scene.course.peer.forgive())


async def test_a_deletion_that_failed_at_first_is_carried_out_all_the_same() -> None:
    async with rated(DiscordDesk(lambda _: a_response(LONG))) as scene:
        notes = await scene.ask()
        scene.course.peer.troubles.on(DELETE, Trouble(status=503))
        await scene.press("Delete")
        await scene.course.until(lambda: not scene.course.peer.seen_in(notes[0].channel_id))


async def test_a_desk_that_cannot_delete_now_says_so_to_who_pressed() -> None:
    async with rated() as scene:
        await scene.ask()
        scene.course.desk.broken = True
        pressed = await scene.press("Delete")
        (told,) = await scene.course.until(lambda: pressed.follow_ups)
        assert "Please try again" in told.content


STAFF = "424242"


async def called(scene: Rated) -> Note:
    """Alice asks for a person; the message that calls one."""
    pressed = await scene.press("Ask a person")
    assert "they answer here" in await scene.told(pressed)
    return scene.course.peer.seen_in(scene.notes[-1].channel_id)[-1]


async def test_a_person_is_called_once_and_that_is_the_only_ping_there_is() -> None:
    async with rated(staff=STAFF) as scene:
        (answer,) = await scene.ask()
        call = await called(scene)
        assert call.pinged == (STAFF,)
        assert call.reference is answer
        assert labels(call) == ["Resolved"]
        again = await scene.press("Ask a person", scene.course.bob)
        assert "asked already" in await scene.told(again)
        pings = [body["allowed_mentions"] for body in scene.course.peer.bodies(SEND)]
        assert [ping for ping in pings if ping.get("roles")] == [{"parse": [], "roles": [STAFF]}]


async def test_a_call_that_did_not_get_through_can_be_made_again() -> None:
    async with rated(staff=STAFF) as scene:
        await scene.ask()
        scene.course.peer.troubles.on(SEND, Trouble(status=403))
        assert "did not let me" in await scene.told(await scene.press("Ask a person"))
        await called(scene)


async def test_where_nobody_is_named_there_is_no_such_button() -> None:
    async with rated() as scene:
        (answer,) = await scene.ask()
        assert "Ask a person" not in labels(answer)


async def test_resolved_is_for_who_called_and_for_staff_and_takes_the_button_away() -> None:
    async with rated(staff=STAFF) as scene:
        course = scene.course
        await scene.ask()
        call = await called(scene)
        actions = course.peer.interactions
        refused = await actions.press(call, course.bob, "Resolved")
        (text,) = await course.until(lambda: refused.texts)
        assert "Only who asked for a person" in text
        actions.roles[course.bob.id] = [STAFF]
        await actions.press(call, course.bob, "Resolved")
        await course.until(lambda: not call.components)
        assert "Resolved by bob" in call.content
        assert call.pinged == (STAFF,)


async def test_resolved_tags_the_post_of_a_forum() -> None:
    async with rated(staff=STAFF) as scene:
        course = scene.course
        forum = course.peer.world.text_channel(course.guild, "questions", kind=FORUM)
        other, tag = course.peer.world.tag(forum, "Motors"), course.peer.world.tag(forum, "Solved")
        await course.peer.routes.publish("CHANNEL_CREATE", forum.as_json())
        mention = f"<@{course.peer.world.bot.id}> {QUESTION}"
        post = await course.peer.begin_post(forum, course.alice, "Limits", mention, other)
        await course.answered()
        scene.notes = course.peer.seen_in(post.id)
        call = await called(scene)
        await course.peer.interactions.press(call, course.alice, "Resolved")
        await course.until(lambda: tag in post.applied_tags)
        assert post.applied_tags == [other, tag]


@pytest.mark.parametrize("label", ["Helpful", "Show evidence"])
async def test_an_answer_that_was_forgotten_is_said_to_be_gone(label: str) -> None:
    async with rated() as scene:
        await scene.ask()
        scene.course.desk.answers.clear()
        assert "not stored any more" in await scene.told(await scene.press(label))


async def test_a_rating_that_could_not_be_kept_is_not_thanked_for() -> None:
    async with rated() as scene:
        await scene.ask()
        scene.ratings.trouble = StorageError("the disk is full")
        assert "Please try again" in await scene.told(await scene.press("Helpful"))
        form = await scene.press("Not helpful")
        sent = await scene.course.peer.interactions.submit(form, "")
        assert "Please try again" in await scene.told(sent)
        assert scene.ratings.kept == {}


async def test_a_button_that_nobody_knows_any_more_says_so() -> None:
    async with rated() as scene:
        (note,) = await scene.ask()
        note.components[0]["components"][0]["custom_id"] = "footnote:old:1"
        assert "do not know this button" in await scene.told(await scene.press("Helpful"))


@pytest.mark.parametrize(
    ("outcome", "wanted"),
    [
        (Outcome.NO_RESULTS, ["Helpful", "Not helpful", "Delete"]),
        (Outcome.ERROR, []),
        (Outcome.COMPLETED, []),  # a greeting: nothing was looked up
    ],
)
async def test_an_answer_without_sources_has_only_the_buttons_that_make_sense(
    outcome: Outcome, wanted: list[str]
) -> None:
    desk = DiscordDesk(lambda _: a_response("Hello!", outcome=outcome, citations=()))
    async with rated(desk) as scene:
        (note,) = await scene.ask()
        assert labels(note) == wanted
        assert len(scene.course.peer.bodies(SEND)) == 1
