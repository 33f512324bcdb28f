"""What comes in another shape or order than Discord's own is left alone, and nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Any

import pytest

from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, Markers, config_for, on_a_course, running
from tests.peers.discord import HISTORY, ME, SEND, START_THREAD, TYPING, open_discord_peer
from tests.peers.discord_gateway import DISPATCH, IDENTIFY, RESUME, Session
from tests.peers.discord_limits import Allowance, Trouble

QUESTION = "How many questions may I ask a day?"
APPLICATION = "GET /oauth2/applications/@me"
COMMANDS = "PUT /applications/:a/commands"
UNREADABLE: list[tuple[str, Any]] = [
    ("MESSAGE_CREATE", {}),
    ("MESSAGE_CREATE", None),
    ("MESSAGE_CREATE", []),
    ("MESSAGE_CREATE", {"id": "x", "channel_id": "1", "content": "", "author": {"id": "1"}}),
    ("MESSAGE_CREATE", {"id": "1", "channel_id": "1", "content": "no author"}),
    ("MESSAGE_UPDATE", {"id": "1", "channel_id": "1", "embeds": [{"type": "link"}]}),
    ("MESSAGE_UPDATE", {"id": "1", "channel_id": "1", "content": None, "author": None}),
    ("MESSAGE_DELETE", {"channel_id": "1"}),
    ("MESSAGE_DELETE_BULK", {"ids": None, "channel_id": "1"}),
    ("INTERACTION_CREATE", {}),
    ("INTERACTION_CREATE", {"id": "1", "type": 2, "token": "t", "application_id": "1"}),
    ("INTERACTION_CREATE", {"id": "1", "type": 99, "token": "t", "application_id": "1"}),
    ("GUILD_CREATE", {"unavailable": False}),
    ("GUILD_UPDATE", {"id": "1"}),
    ("GUILD_DELETE", {}),
    ("GUILD_ROLE_UPDATE", {"guild_id": "1"}),
    ("GUILD_MEMBER_UPDATE", "words"),
    ("CHANNEL_CREATE", {"id": "1", "type": 0}),
    ("CHANNEL_UPDATE", [1]),
    ("THREAD_CREATE", {"id": "x"}),
    ("THREAD_UPDATE", {"id": "1", "guild_id": "1"}),
    ("THREAD_LIST_SYNC", {"guild_id": "1", "threads": 7}),
    ("THREAD_MEMBERS_UPDATE", {}),
    ("TYPING_START", {"channel_id": "1"}),
    ("SOMETHING_NEW", {"of": "tomorrow"}),
]


async def tell(course: Course, kind: str, data: Any) -> None:
    for session in course.peer.gateway.connected:
        await session.dispatch(kind, data)


async def tell_note(course: Course, *, without: tuple[str, ...] = (), **changes: Any) -> int:
    """Somebody's mention, told with other parts than Discord's; the id of its message."""
    number = course.peer.world.ids.next()
    bot = course.peer.world.bot
    note = {
        "id": str(number),
        "channel_id": str(course.channel.id),
        "guild_id": str(course.guild.id),
        "author": {"id": str(course.alice.id), "username": "alice"},
        "content": f"<@{bot.id}> {QUESTION}",
        **changes,
    }
    await tell(course, "MESSAGE_CREATE", {k: v for k, v in note.items() if k not in without})
    return number


async def still_answers(course: Course) -> None:
    before = len(course.desk.delivered)
    asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
    await course.answered(before + 1)
    assert len(course.peer.seen_in(asked.id)) == 1


async def test_an_event_that_cannot_be_read_ends_no_connection() -> None:
    async with on_a_course() as course:
        for kind, data in UNREADABLE:
            await tell(course, kind, data)
        await still_answers(course)
        course.peer.forgive()  # what the stand-in never told of cannot be answered
        assert len(course.desk.delivered) == 1
        assert len(course.peer.gateway.sent(IDENTIFY)) == 1
        assert not course.peer.gateway.sent(RESUME)


async def test_a_frame_that_cannot_be_read_costs_a_reconnection_and_no_more() -> None:
    async with on_a_course() as course:
        (session,) = course.peer.gateway.connected
        assert session.socket is not None
        socket, session.socket = session.socket, None
        await socket.send(10, {"no": "interval"})
        await course.until(lambda: course.peer.gateway.sent(RESUME))
        await still_answers(course)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"mentions": [], "mention_roles": [], "attachments": [], "embeds": [], "type": 0},
        {"mentions": None, "embeds": None, "attachments": None, "edited_timestamp": None},
        {"author": {"id": "7", "username": "ann", "discriminator": "0", "avatar": None}},
        {"author": {"id": "7"}},
        {"member": {"roles": [], "joined_at": None, "deaf": False, "mute": False}},
        {"sticker_items": [{"id": "5", "name": "wave", "format_type": 1}]},
        {"embeds": [{"type": "link", "url": "https://example.org"}]},
        {"components": [{"type": 99}], "flags": 1 << 30},
        {"thread": None, "referenced_message": None, "message_reference": {}},
        {"type": 19, "message_reference": {"message_id": "5"}, "referenced_message": None},
    ],
)
async def test_a_mention_that_tells_less_or_more_than_usual_is_answered(
    changes: Mapping[str, Any],
) -> None:
    async with on_a_course() as course:
        asked = await tell_note(course, **changes)
        await course.until(lambda: course.desk.texts)
        assert course.desk.texts == [QUESTION]
        assert [question.message_id for question in course.desk.questions] == [str(asked)]
        await course.until(lambda: course.desk.given_up or course.desk.delivered)
        course.peer.forgive()  # there is no such message to make a thread from


async def test_a_discord_that_tells_only_what_it_must_is_understood() -> None:
    """Threads, channels, members and messages without all that may be left out."""
    async with open_discord_peer() as peer:
        peer.tells_least()
        course = Course(peer, DiscordDesk())
        async with running(course):
            asked = await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            await course.answered()
            thread = peer.world.channels[asked.id]
            await peer.say(thread, course.alice, "And on Sundays?")
            await course.answered(2)
            await peer.say(thread, course.alice, f"<@{course.bob.id}> do you know that too?")
            await course.quiet()
            await peer.say(peer.world.direct(course.bob), course.bob, "In private?")
            await course.answered(3)
        assert course.desk.texts == [QUESTION, "And on Sundays?", "In private?"]
        (question, following, _) = course.desk.questions
        assert following.key == question.key


@pytest.mark.parametrize("kind", [1, 2, 3, 6, 7, 8, 12, 18, 20, 21, 22, 23, 24, 27, 31, 36, 46, 77])
async def test_what_discord_itself_says_is_no_question(kind: int) -> None:
    async with on_a_course() as course:
        await tell_note(course, type=kind)
        await course.quiet()
        assert course.desk.texts == []
        await still_answers(course)


async def test_what_somebody_hands_on_in_private_is_read() -> None:
    async with on_a_course() as course:
        direct = course.peer.world.direct(course.alice)
        said = {
            "type": 0,
            "content": QUESTION,
            "embeds": [],
            "attachments": [],
            "timestamp": "2026-01-02T03:04:05+00:00",
            "edited_timestamp": None,
            "flags": 0,
            "mentions": [],
            "mention_roles": [],
        }
        handed_on = {
            "content": "",
            "channel_id": str(direct.id),
            "message_reference": {"type": 1, "message_id": "5", "channel_id": "6"},
            "message_snapshots": [{"message": said}],
        }
        await tell_note(course, without=("guild_id",), **handed_on)
        await course.answered()
        assert course.desk.texts == [QUESTION]


@pytest.mark.parametrize(
    "shown",
    [
        {"sticker_items": [{"id": "5", "name": "wave", "format_type": 1}]},
        {"embeds": [{"type": "rich", "title": "A page"}]},
        {
            "poll": {
                "question": {"text": "Tea or coffee?"},
                "answers": [{"answer_id": 1, "poll_media": {"text": "Tea"}}],
                "expiry": None,
                "allow_multiselect": False,
                "layout_type": 1,
            }
        },
    ],
)
async def test_what_has_no_words_asks_nothing_in_its_thread(shown: Mapping[str, Any]) -> None:
    async with on_a_course() as course:
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        await tell_note(course, content="", channel_id=str(asked.id), **shown)
        await course.quiet()
        assert course.desk.texts == [QUESTION]


@pytest.mark.parametrize("route", [SEND, START_THREAD, TYPING, HISTORY])
@pytest.mark.parametrize("status", [500, 503])
async def test_a_server_error_at_the_first_call_of_a_method_costs_no_answer(
    route: str, status: int
) -> None:
    async with on_a_course() as course:
        course.peer.troubles.on(route, Trouble(status=status))
        if route == HISTORY:  # which is asked only where nobody knows what became of a post
            course.peer.troubles.on(SEND, Trouble(reset=True, takes_effect=True))
        await still_answers(course)
        course.peer.forgive()  # a thread that was not made is looked into


@pytest.mark.parametrize("route", [ME, APPLICATION, COMMANDS])
async def test_a_server_error_at_the_start_is_tried_again(route: str) -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.troubles.on(route, Trouble(status=503))
        async with running(course):
            await still_answers(course)


LIMITED = {"message": "You are being rate limited.", "global": False}


@pytest.mark.parametrize(
    "body",
    [
        {**LIMITED, "retry_after": 0},
        {**LIMITED, "retry_after": 0.01},
        {**LIMITED, "retry_after": 0.01, "global": True},
        {**LIMITED, "retry_after": "soon"},
        LIMITED,
        {},
    ],
)
async def test_whatever_a_rate_limit_tells_the_answer_comes_once(body: Mapping[str, Any]) -> None:
    async with on_a_course() as course:
        course.peer.troubles.on(SEND, Trouble(status=429, body=body))
        await still_answers(course)


async def test_a_limit_of_all_requests_ends_though_the_sign_that_met_it_is_given_up() -> None:
    """The library lets nothing through until the very request that met it has waited."""
    async with on_a_course() as course:
        course.peer.troubles.on(TYPING, Trouble(status=429, retry_after=2.0, everywhere=True))
        course.desk.thinks.clear()
        await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.until(lambda: course.peer.troubles.made)
        limited_at = monotonic()
        await course.quiet()
        sent_before = len(course.peer.calls)
        course.desk.thinks.set()
        await course.answered()
        assert course.peer.calls[sent_before].at - limited_at >= 1.9, "what Discord said is kept"


async def test_a_long_window_with_room_in_it_is_no_reason_to_wait() -> None:
    """Some of Discord's windows last minutes; each has room for many requests."""
    long = Allowance(50, 300.0)
    async with open_discord_peer(sends=long, edits=long, default=long) as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            for _ in range(3):
                await still_answers(course)
        assert course.desk.refusals == []
        assert peer.buckets.refused == 0


@pytest.mark.parametrize("told", [{}, {"flags": 0}, {"team": None, "owner": None, "icon": None}])
async def test_an_application_that_tells_little_of_itself_will_do(told: Mapping[str, Any]) -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        least = {"id": str(peer.world.bot.id), **told}
        peer.troubles.on(APPLICATION, Trouble(status=200, body=least))
        async with running(course):
            await still_answers(course)


async def test_an_application_that_is_known_by_its_newer_name_alone_will_do() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.troubles.on(APPLICATION, Trouble(status=404))
        async with running(course):
            await still_answers(course)


@pytest.mark.parametrize("told", [{}, [], "words", {"id": "x"}])
async def test_a_log_in_that_cannot_be_read_is_tried_again(told: Any) -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.troubles.on(ME, Trouble(status=200, body=told))
        async with running(course):
            await still_answers(course)


@pytest.mark.parametrize("moment", ["before ready", "after ready", "within a server"])
async def test_a_connection_that_breaks_while_it_begins_is_begun_again(moment: str) -> None:
    async with open_discord_peer() as peer:
        greeting, broken = peer.gateway.greeting, asyncio.Event()

        async def break_once(session: Session) -> None:
            socket = session.socket
            assert socket is not None
            if broken.is_set():
                await greeting(session)
                return
            broken.set()
            if moment == "after ready":  # what its servers are is left for the next connection
                session.silent = True
                await greeting(session)
                number, kind, ready = session.events[0]
                await socket.send(DISPATCH, ready, seq=number, kind=kind)
            elif moment == "within a server":
                await greeting(session)
            await socket.close(1011)

        peer.gateway.greeting = break_once
        course = Course(peer, DiscordDesk(), Markers())
        async with running(course, identify_seconds=0.2):
            await still_answers(course)


async def test_a_ready_that_cannot_be_read_is_asked_for_again() -> None:
    async with open_discord_peer() as peer:
        greeting, told = peer.gateway.greeting, list[Session]()

        async def tell_nonsense_once(session: Session) -> None:
            told.append(session)
            if len(told) == 1:
                await session.dispatch("READY", {"v": 10})
            else:
                await greeting(session)

        peer.gateway.greeting = tell_nonsense_once
        course = Course(peer, DiscordDesk())
        assert config_for(peer).identify_seconds > 0
        async with running(course):
            await still_answers(course)
        assert len(told) == 2


async def tell_use(course: Course, data: Mapping[str, Any], **changes: Any) -> None:
    """Somebody uses a command, told with other parts than Discord's."""
    number = str(course.peer.world.ids.next())
    alice = course.alice.as_json()
    use = {
        "id": number,
        "application_id": str(course.peer.world.bot.id),
        "type": 2,
        "token": f"token-{number}",
        "version": 1,
        "guild_id": str(course.guild.id),
        "channel_id": str(course.channel.id),
        "member": {"user": alice, "roles": [], "joined_at": None, "deaf": False, "mute": False,
                   "permissions": "0", "flags": 0},
        "locale": "en-US",
        "data": {"id": "1", "name": "ask", "type": 1, **data},
        **changes,
    }  # fmt: skip
    await tell(course, "INTERACTION_CREATE", {k: v for k, v in use.items() if v is not None})


ASKED = {"options": [{"name": "question", "type": 3, "value": QUESTION}]}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"locale": None},
        {"guild_locale": "de", "app_permissions": "0", "entitlements": [], "context": 0},
        {"member": None, "user": {"id": "7", "username": "ann", "discriminator": "0",
                                  "avatar": None}},
    ],
)  # fmt: skip
async def test_a_command_that_tells_less_or_more_than_usual_is_taken(
    changes: Mapping[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with on_a_course() as course:
        await tell_use(course, ASKED, **changes)
        await course.until(lambda: course.desk.texts)
        assert course.desk.texts == [QUESTION]
        await course.until(lambda: course.desk.given_up or course.desk.delivered)
        course.peer.forgive()  # the stand-in knows nothing of this use
        assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(
    ("data", "changes"),
    [
        ({}, {}),
        ({"options": None}, {}),
        ({"options": [{"name": "question", "type": 3, "value": ""}]}, {}),
        ({"name": "lookup"}, {}),
        ({"name": "footnote"}, {}),
        ({"name": "footnote", "options": [{"name": "nothing", "type": 1}]}, {}),
        ({"name": "Answer this from the docs", "type": 3}, {}),
        ({"name": "Answer this from the docs", "type": 3, "target_id": "5", "resolved": {}}, {}),
        ({"name": "of yesterday"}, {}),
        ({"name": "lookup", "options": []}, {"type": 4}),
        ({"name": "ask", "options": []}, {"type": 4}),
        ({"name": "footnote", "options": []}, {"type": 4}),
        ({"custom_id": "footnote:helpful:x", "component_type": 2}, {"type": 3}),
        ({"custom_id": "", "component_type": 2}, {"type": 3}),
        ({"custom_id": "somebody-elses", "component_type": 3, "values": []}, {"type": 3}),
        ({"custom_id": "footnote:reason:x", "components": []}, {"type": 5}),
        ({}, {"type": 1}),
    ],
)
async def test_a_use_that_cannot_be_understood_is_no_defect(
    data: Mapping[str, Any], changes: Mapping[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with on_a_course() as course:
        await tell_use(course, data, **changes)
        await course.quiet()
        assert not [record.getMessage() for record in caplog.records if record.exc_info]
        course.peer.forgive()  # the stand-in knows nothing of this use
        await still_answers(course)
        assert course.desk.texts == [QUESTION]
