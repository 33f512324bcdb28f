"""Where a place takes nothing from us, nothing is tried twice, and the asker hears elsewhere."""

from __future__ import annotations

import json

import pytest

from adapters.slack.answering.detour import DIRECT as SENT_IN_PRIVATE
from adapters.slack.calling.calls import CHANNEL_CLOSED
from rag_core.desk.outgoing import OutgoingPart
from rag_core.errors import PlaceRefused
from tests.fakes.answers import an_answer
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.slack_desk import FakeDesk, desk_that_answers, id_of
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.flow.discord_flow import on_a_course
from tests.peers.discord_limits import Trouble
from tests.peers.slack import ANN, BEN, BOT_USER, DIRECT, GENERAL, MENTION, SlackPeer

SEND, START_THREAD = "POST /channels/:c/messages", "POST /channels/:c/messages/:m/threads"
OPEN_DIRECT = "POST /users/@me/channels"


async def asked_and_thrown_out(peer: SlackPeer, desk: FakeDesk, user: str) -> None:
    """The app is taken out of the channel while it answers."""
    desk.hold.clear()
    peer.say(GENERAL, user, f"{MENTION} how many a day?")
    await until(lambda: bool(desk.questions))
    peer.world.channels[GENERAL].members.discard(BOT_USER)
    desk.hold.set()
    await settled(peer, desk)


async def test_an_answer_that_a_channel_does_not_take_goes_to_its_asker() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.foresees("not_in_channel")
        await asked_and_thrown_out(peer, desk, ANN)
        [message] = peer.world.channels[DIRECT].messages.values()
        assert f"<#{GENERAL}>" in message.text
        assert "Ten a day" in message.seen
        assert not desk.given_up
        assert len(peer.calls("chat.postMessage")) == 2, "once there, once here"
        details = [finding.detail for finding in await platform.findings()]
        assert sum("not_in_channel" in detail and GENERAL in detail for detail in details) >= 1
        [question] = desk.questions.values()
        [part] = desk.parts[id_of(question)]
        assert part.external_id is not None
        assert part.external_id.startswith(SENT_IN_PRIVATE)
        changed = json.dumps({"text": "Eleven a day.", "blocks": []})
        await platform.replies.edit(
            question,
            OutgoingPart(
                question_id=part.question_id,
                number=0,
                payload=changed,
                external_id=part.external_id,
            ),
        )
        assert message.seen == "Eleven a day."
        await platform.replies.remove(question, part.external_id)
        assert not peer.world.channels[DIRECT].messages


async def test_what_cannot_be_sent_to_the_asker_either_is_given_up_after_one_try_each() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("not_in_channel", "channel_not_found")
        await asked_and_thrown_out(peer, desk, BEN)  # who has no direct messages with the app
        assert desk.given_up == ["slack: not_in_channel"]
        assert len(peer.calls("chat.postMessage")) == 2


@pytest.mark.parametrize("error", [*sorted(CHANNEL_CLOSED), "missing_scope", "thread_not_found"])
async def test_what_slack_refuses_altogether_is_known_as_such(error: str) -> None:
    desk = FakeDesk(lambda question: an_answer())
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.foresees(error)
        peer.api.standing["chat.postMessage"] = error
        with pytest.raises(PlaceRefused):
            await platform.teams.all()[0].post(channel=GENERAL, text="hello")
        assert len(peer.calls("chat.postMessage")) == 1


@pytest.mark.parametrize(("status", "code"), [(403, 50001), (403, 50013), (404, 10003)])
async def test_what_discord_refuses_altogether_is_tried_once_in_each_place(
    status: int, code: int
) -> None:
    async with on_a_course(DiscordDesk()) as course:
        course.desk.shows_progress = False
        course.peer.troubles.on(START_THREAD, Trouble(status=status, code=code), times=9)
        course.peer.troubles.on(SEND, Trouble(status=status, code=code), times=1)
        course.peer.troubles.on(SEND, Trouble(status=403, code=50007), times=9)
        await course.peer.say(course.channel, course.alice, "How many?", mentions_bot=True)
        await course.until(lambda: course.desk.given_up)
        [refusal] = course.desk.refusals
        assert isinstance(refusal, PlaceRefused), "no other form of it is tried"
        made = [route for route, _ in course.peer.troubles.made]
        assert made.count(SEND) == 2, "once in the channel, once in private"
