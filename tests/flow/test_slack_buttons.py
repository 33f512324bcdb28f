"""The buttons below an answer do what they say, in every process that comes after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adapters.review import ASKED_AGAIN, CALLED_BEFORE, NOT_SAVED, NOT_STORED, NOT_YOURS, THANKS
from adapters.slack.acting.staff import CALLED, NO_STAFF, NOT_CALLED, NOT_STAFF
from rag_core.errors import StorageError
from tests.fakes.answers import a_citation, a_refusal, an_answer
from tests.fakes.markers import MemoryMarkers
from tests.fakes.ratings import Ratings
from tests.fakes.slack_desk import FakeDesk
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.peers.slack import ANN, BEN, CLEO, GENERAL, MENTION, Fault, SlackMessage, SlackPeer
from tests.peers.slack_house import controls_in
from tests.peers.slack_socket import Envelope

BOTH_WAYS = pytest.mark.parametrize("over", ["socket", "http"])
STAFF = ("U0CLEO", "S0HELP")


async def answered(peer: SlackPeer, desk: FakeDesk) -> SlackMessage:
    ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
    await settled(peer, desk)
    [reply] = peer.world.replies(GENERAL, ts)
    return reply


async def told(peer: SlackPeer, envelope: Envelope, user: str) -> str:
    """What a press comes to, in the words that only who pressed can see."""
    before = len(peer.house.told(user))
    await peer.heard()
    assert envelope.acked_at, "slack was not answered in time"
    await until(lambda: len(peer.house.told(user)) > before)
    return peer.house.told(user)[-1]


@BOTH_WAYS
async def test_buttons_work_in_the_next_process_by_their_labels(over: str) -> None:
    desk, ratings, markers = FakeDesk(lambda q: an_answer()), Ratings(), MemoryMarkers()
    kept: dict[str, Any] = {"markers": markers, "parts": {"feedback": ratings}, "over": over}
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, ask_person=STAFF, **kept):
            reply = await answered(peer, desk)
        labels = [label for label, _ in controls_in(reply.blocks)]
        assert labels == ["Helpful", "Not helpful", "Show evidence", "Ask a person", "Delete"]
        async with slack_at_work(peer, desk, ask_person=STAFF, **kept):
            assert await told(peer, peer.people.press(BEN, reply, "Helpful"), BEN) == THANKS
            assert list(ratings.kept.values()) == [(True, "")]
            shown = await told(peer, peer.people.press(BEN, reply, "Show evidence"), BEN)
            assert "Limits › Daily" in shown
            assert "> ten a day" in shown
            assert peer.house.whispers[-1].thread_ts == reply.thread_ts
            peer.people.press(ANN, reply, "Delete")
            await until(lambda: not peer.world.replies(GENERAL, reply.thread_ts or ""))


@BOTH_WAYS
async def test_not_helpful_counts_at_once_and_its_form_adds_the_reason(over: str) -> None:
    desk, ratings = FakeDesk(lambda q: an_answer()), Ratings()
    parts = {"feedback": ratings}
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts=parts, over=over):
        reply = await answered(peer, desk)
        peer.people.press(ANN, reply, "Not helpful")
        await until(lambda: bool(peer.house.views))
        await peer.heard()
        assert list(ratings.kept.values()) == [(False, "")]
        sent = peer.people.submit(ANN, peer.house.views[0], " It is out of date. ")
        await peer.heard()
        assert sent.acked_at
        assert list(ratings.kept.values()) == [(False, "It is out of date.")]
        again = peer.people.press(ANN, reply, "Helpful")
        assert await told(peer, again, ANN) == THANKS
        assert list(ratings.kept.values()) == [(True, "")]


async def test_what_could_not_be_stored_is_said_and_a_form_stays_open() -> None:
    desk, ratings = FakeDesk(lambda q: an_answer()), Ratings()
    peer = SlackPeer(ack_seconds=0.3)
    async with peer, slack_at_work(peer, desk, parts={"feedback": ratings}):
        reply = await answered(peer, desk)
        ratings.trouble = StorageError("The database cannot be written.")
        assert await told(peer, peer.people.press(ANN, reply, "Helpful"), ANN) == NOT_SAVED
        peer.people.press(ANN, reply, "Not helpful")
        await until(lambda: bool(peer.house.views))
        sent = peer.people.submit(ANN, peer.house.views[0], "It is out of date.")
        await peer.heard()
        assert sent.acked_at is None


async def test_only_who_asked_can_delete() -> None:
    desk = FakeDesk(lambda q: an_answer())
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        reply = await answered(peer, desk)
        assert await told(peer, peer.people.press(BEN, reply, "Delete"), BEN) == NOT_YOURS
        assert not desk.withdrawn


@pytest.mark.parametrize("presser", [ANN, CLEO], ids=["the asker", "staff"])
async def test_people_are_called_once_and_the_call_is_closed(presser: str) -> None:
    desk, markers = FakeDesk(lambda q: an_answer()), MemoryMarkers()
    async with SlackPeer() as peer:
        peer.world.groups = {"S0HELP": []}
        async with slack_at_work(peer, desk, ask_person=STAFF, markers=markers):
            reply = await answered(peer, desk)
            assert await told(peer, peer.people.press(ANN, reply, "Ask a person"), ANN) == CALLED
        async with slack_at_work(peer, desk, ask_person=STAFF, markers=markers):
            again = peer.people.press(BEN, reply, "Ask a person")
            assert await told(peer, again, BEN) == CALLED_BEFORE
            [call] = peer.world.replies(GENERAL, reply.thread_ts or "")[1:]
            assert call.pings == ["<@U0CLEO>", "<!subteam^S0HELP>"] * 2
            pressed = peer.people.press(BEN, call, "Resolved")
            assert await told(peer, pressed, BEN) == NOT_STAFF, "a stranger ends nothing"
            assert "Resolved by" not in call.text
            peer.people.press(presser, call, "Resolved")
            await until(lambda: f"Resolved by <@{presser}>" in call.text)
            assert not list(controls_in(call.blocks))


async def test_a_call_that_slack_refuses_can_be_made_again() -> None:
    desk = FakeDesk(lambda q: an_answer())
    async with SlackPeer() as peer, slack_at_work(peer, desk, ask_person=STAFF):
        reply = await answered(peer, desk)
        peer.foresees("restricted_action")
        peer.api.standing["chat.postMessage"] = "restricted_action"
        press: Callable[[], Envelope] = lambda: peer.people.press(ANN, reply, "Ask a person")  # noqa: E731
        assert await told(peer, press(), ANN) == NOT_CALLED
        peer.api.standing.clear()
        assert await told(peer, press(), ANN) == CALLED


async def test_without_people_in_the_settings_there_is_no_such_button() -> None:
    desk, markers = FakeDesk(lambda q: an_answer()), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers, ask_person=STAFF):
            with_button = await answered(peer, desk)
        async with slack_at_work(peer, desk, markers=markers):
            pressed = peer.people.press(ANN, with_button, "Ask a person")
            assert await told(peer, pressed, ANN) == NO_STAFF
            without = await answered(peer, desk)
        assert "Ask a person" not in dict(controls_in(without.blocks))


async def test_a_changed_source_is_said_and_can_be_asked_about_again() -> None:
    desk = FakeDesk(lambda q: an_answer(source_changed=True))
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        reply = await answered(peer, desk)
        assert "A source changed since this answer." in reply.seen
        assert await told(peer, peer.people.press(ANN, reply, "Ask again"), ANN) == ASKED_AGAIN
        assert desk.asked_again


async def test_an_answer_that_is_gone_or_of_another_workspace_shows_nothing() -> None:
    desk = FakeDesk(lambda q: an_answer())
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        reply = await answered(peer, desk)
        desk.responses.clear()
        shown = await told(peer, peer.people.press(BEN, reply, "Show evidence"), BEN)
        assert shown == NOT_STORED


async def test_a_refusal_can_be_rated_and_a_greeting_has_no_buttons() -> None:
    answers = iter([a_refusal(), an_answer("Hello!", citations=())])
    desk = FakeDesk(lambda q: next(answers))
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        refusal = await answered(peer, desk)
        assert [label for label, _ in controls_in(refusal.blocks)] == [
            "Helpful",
            "Not helpful",
            "Delete",
        ]
        assert not list(controls_in((await answered(peer, desk)).blocks))


async def test_long_evidence_stays_within_what_slack_takes() -> None:
    many = tuple(a_citation(n, quote="<!channel> word " * 200) for n in range(1, 60))
    desk = FakeDesk(lambda q: an_answer("Yes [1].", citations=many))
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        last = peer.world.replies(GENERAL, ts)[-1]
        shown = await told(peer, peer.people.press(BEN, last, "Show evidence"), BEN)
        assert len(shown) > 5_000


@pytest.mark.parametrize("label", ["Helpful", "Show evidence", "Ask a person", "Not helpful"])
async def test_a_press_that_slack_wants_later_is_not_lost(label: str) -> None:
    desk = FakeDesk(lambda q: an_answer())
    async with SlackPeer() as peer, slack_at_work(peer, desk, ask_person=STAFF):
        reply = await answered(peer, desk)
        for method in ("chat.postEphemeral", "chat.postMessage", "views.open"):
            peer.fails(method, Fault.RATE_LIMITED)
        peer.people.press(ANN, reply, label)
        seen: Callable[[], int] = lambda: len(peer.house.told(ANN)) + len(peer.house.views)  # noqa: E731
        await until(lambda: seen() == 1)
        assert not peer.early


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.RESET, Fault.GARBAGE])
async def test_words_for_one_person_find_another_way(fault: Fault) -> None:
    desk = FakeDesk(lambda q: an_answer())
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        reply = await answered(peer, desk)
        peer.fails("chat.postEphemeral", fault)
        assert await told(peer, peer.people.press(BEN, reply, "Helpful"), BEN) == THANKS


async def test_a_form_that_slack_does_not_open_leaves_the_rating_and_a_word() -> None:
    desk, ratings = FakeDesk(lambda q: an_answer()), Ratings()
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts={"feedback": ratings}):
        reply = await answered(peer, desk)
        peer.fails("views.open", Fault.SERVER_ERROR)
        assert await told(peer, peer.people.press(BEN, reply, "Not helpful"), BEN) == THANKS
        assert list(ratings.kept.values()) == [(False, "")]


@pytest.mark.parametrize("status", [200, 503])
async def test_home_is_shown_though_slack_was_busy(status: int) -> None:
    desk = FakeDesk(lambda q: an_answer())
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        busy = {"ok": False, "error": "service_unavailable" if status == 200 else "fatal_error"}
        peer.says("views.publish", busy, status=status)
        peer.people.open_home(ANN)
        await until(lambda: ANN in peer.house.homes)
