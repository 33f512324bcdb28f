"""When the bot answers: one table for Discord and Slack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapters.answer_policy import AnswerPolicy, Decision, MessageFacts, Place, decide
from adapters.bot_pace import MOST, BotPace
from tests.builders import a_question

ANSWER, UNLESS = Decision.ANSWER, Decision.ANSWER_UNLESS_A_PERSON_DOES
TAKE_BACK, IGNORE = Decision.TAKE_BACK, Decision.IGNORE
DIRECT, CHANNEL, POST = Place.DIRECT, Place.CHANNEL, Place.NEW_POST
OWN, PEOPLES = Place.OWN_THREAD, Place.PEOPLES_THREAD
ASKS: dict[str, Any] = {"asks": True}
NAMED: dict[str, Any] = {"is_addressed": True}
BOT: dict[str, Any] = {"is_from_bot": True}
OURS: dict[str, Any] = {"was_answered_here": True, "asked_here": True}


@pytest.mark.parametrize(
    ("decision", "place", "facts"),
    [
        # direct messages: whatever is written there
        (ANSWER, DIRECT, ASKS),
        (ANSWER, DIRECT, {}),
        (ANSWER, DIRECT, {"acknowledges": True}),
        (TAKE_BACK, DIRECT, {"takes_back": True}),
        # by name, everywhere
        *((ANSWER, place, NAMED) for place in (CHANNEL, POST, OWN, PEOPLES)),
        (ANSWER, PEOPLES, NAMED | {"is_empty": True}),
        (ANSWER, OWN, NAMED | {"is_muted": True}),
        (ANSWER, OWN, NAMED | {"is_for_somebody_else": True}),
        (ANSWER, OWN, NAMED | {"acknowledges": True}),
        # other bots
        (IGNORE, CHANNEL, NAMED | ASKS | BOT),
        (IGNORE, DIRECT, ASKS | BOT),
        (IGNORE, OWN, {"takes_back": True} | BOT),
        (ANSWER, CHANNEL, NAMED | ASKS | BOT | {"is_allowed_bot": True}),
        # channels: only where they opted in, and only what asks
        (IGNORE, CHANNEL, ASKS),
        (UNLESS, CHANNEL, ASKS | {"auto_answer": True}),
        (IGNORE, CHANNEL, {"auto_answer": True}),
        (IGNORE, CHANNEL, ASKS | {"auto_answer": True, "is_for_somebody_else": True}),
        (IGNORE, CHANNEL, {"auto_answer": True, "acknowledges": True}),
        (TAKE_BACK, CHANNEL, {"takes_back": True}),
        (IGNORE, CHANNEL, {"takes_back": True, "is_for_somebody_else": True}),
        # posts of a forum: a post asks by being one
        (IGNORE, POST, ASKS),
        (UNLESS, POST, {"auto_answer": True}),
        # threads that began with a question to the bot
        (UNLESS, OWN, ASKS),
        (UNLESS, OWN, ASKS | {"has_others": True}),
        (UNLESS, OWN, {}),
        (IGNORE, OWN, {"has_others": True}),
        (IGNORE, OWN, {"acknowledges": True}),
        (IGNORE, OWN, {"is_empty": True}),
        (IGNORE, OWN, ASKS | {"is_muted": True}),
        (IGNORE, OWN, ASKS | {"is_for_somebody_else": True}),
        (TAKE_BACK, OWN, {"takes_back": True, "acknowledges": True}),
        # threads of people
        (IGNORE, PEOPLES, ASKS),
        (UNLESS, PEOPLES, ASKS | OURS),
        (IGNORE, PEOPLES, OURS),
        (IGNORE, PEOPLES, ASKS | {"was_answered_here": True}),
        (IGNORE, PEOPLES, ASKS | {"asked_here": True}),
        (IGNORE, PEOPLES, ASKS | OURS | {"is_muted": True}),
    ],
)
def test_the_table(decision: Decision, place: Place, facts: dict[str, Any]) -> None:
    assert decide(MessageFacts(place=place, **facts)) is decision


def test_an_allowed_bot_is_answered_at_its_pace_and_a_person_at_any() -> None:
    policy = AnswerPolicy(pace=BotPace(clock=lambda: 0.0))
    bot = MessageFacts(place=CHANNEL, is_addressed=True, is_from_bot=True, is_allowed_bot=True)
    asked = [replace(a_question(), message_id=str(number)) for number in range(MOST + 3)]
    decisions = [policy.decide(bot, question) for question in asked]
    assert decisions == [ANSWER] * MOST + [IGNORE] * 3
    assert policy.decide(bot, asked[0]) is ANSWER, "the same message counts once"
    person = replace(bot, is_from_bot=False)
    assert {policy.decide(person, question) for question in asked} == {ANSWER}
