"""The crowd asks at every door, and further only where there is an answer to go on from."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic

import pytest

from tests.faults.crowd import SETTLED_SECONDS, Asked, Crowd
from tests.faults.loads import A_SECOND
from tests.faults.paper_day import a_crowd, a_yard
from tests.peers.slack_world import BOT, SlackMessage


@pytest.fixture
async def crowd(tmp_path: Path) -> AsyncIterator[Crowd]:
    crowd = a_crowd(a_yard(tmp_path))
    yield crowd
    await crowd.visitors.gone()
    await crowd.place.slack.deliveries.close()


def some_time_ago(crowd: Crowd) -> Asked:
    """A question in Slack that should have had its answer by now."""
    [channel] = crowd.place.channels(1)
    asked = Asked(crowd.place.ask(channel), monotonic() - SETTLED_SECONDS - 1)
    crowd.asked.append(asked)
    return asked


def answer(crowd: Crowd, asked: Asked) -> None:
    _, channel, head = asked.sent.place
    crowd.place.slack.world.add(
        SlackMessage("9999999999.1", channel, BOT, "Ten.", head, metadata={"k": 1}, bot_id=BOT)
    )


async def test_people_come_to_every_door_and_each_is_on_the_record(crowd: Crowd) -> None:
    await crowd.come(10 / A_SECOND)
    doors = Counter(asked.sent.place[0] for asked in crowd.asked)
    assert doors == {"slack": 5, "discord": 2}
    assert len(crowd.visitors.visits) == 3
    assert len(crowd.place.sent) == 7
    assert len({sent.canary for sent in crowd.place.sent}) == 7


async def test_nobody_asks_further_where_there_is_no_answer(crowd: Crowd) -> None:
    asked = some_time_ago(crowd)
    assert [each for _ in range(50) if (each := crowd.earlier("slack"))] == []
    answer(crowd, asked)
    assert [each for _ in range(50) if (each := crowd.earlier("slack"))] == [asked]
    assert asked.sent.message_id in crowd.continued
    assert crowd.chosen("slack") is None, "who has been asked further is left alone"


async def test_what_was_just_asked_is_not_changed_yet(crowd: Crowd) -> None:
    asked = some_time_ago(crowd)
    asked.at = monotonic()
    assert crowd.chosen("slack") is None


async def test_a_question_that_is_taken_back_is_gone_and_wants_no_answer(crowd: Crowd) -> None:
    asked = some_time_ago(crowd)
    await crowd.take_back(asked)
    assert [sent.withdrawn for sent in crowd.place.sent] == [True]
    _, channel, ts = asked.sent.place
    assert ts not in crowd.place.slack.world.channels[channel].messages
    assert crowd.chosen("slack") is None


async def test_a_changed_question_says_something_else_by_the_same_name(crowd: Crowd) -> None:
    asked = some_time_ago(crowd)
    await crowd.change(asked)
    _, channel, ts = asked.sent.place
    words = crowd.place.slack.world.channels[channel].messages[ts].text
    assert asked.sent.canary in words
    assert asked.changed_to in words
    assert crowd.chosen("slack") is None


async def test_nothing_is_changed_that_nobody_would_hear_of(crowd: Crowd) -> None:
    asked = some_time_ago(crowd)
    crowd.is_heard = lambda: False
    thinking = asyncio.create_task(crowd.think_again(every_seconds=0.0))
    await asyncio.sleep(0.05)
    thinking.cancel()
    assert asked.is_as_it_was
