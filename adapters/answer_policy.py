"""When the bot answers a message: one table for all chat platforms."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from adapters.bot_pace import BotPace
from rag_core.desk.incoming import IncomingQuestion

log = logging.getLogger(__name__)


class Place(StrEnum):
    """Where a message stands."""

    DIRECT = "direct"
    CHANNEL = "channel"
    NEW_POST = "new post"
    """The first message of a forum post."""
    OWN_THREAD = "own thread"
    """A thread that began with a question to the bot."""
    PEOPLES_THREAD = "thread of people"


class Decision(StrEnum):
    """What becomes of a message."""

    ANSWER = "answer"
    ANSWER_UNLESS_A_PERSON_DOES = "answer unless a person does"
    TAKE_BACK = "take back the last question"
    IGNORE = "ignore"

    @property
    def answers(self) -> bool:
        return self in {Decision.ANSWER, Decision.ANSWER_UNLESS_A_PERSON_DOES}


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFacts:
    """What the table needs to know of a message; a platform finds it out."""

    place: Place
    is_addressed: bool = False
    """It names the bot or one of its roles, or replies to it."""
    is_empty: bool = False
    """It has neither words nor files."""
    asks: bool = False
    """It asks a question, for help, or says that something does not work."""
    acknowledges: bool = False
    """It is no more than `thanks`, `ok` or `same here`."""
    takes_back: bool = False
    """It says `never mind`."""
    is_for_somebody_else: bool = False
    """It begins with another person's name, or replies to another person."""
    is_from_bot: bool = False
    is_allowed_bot: bool = False
    is_muted: bool = False
    """Somebody muted this thread."""
    auto_answer: bool = False
    """The channel opted in."""
    was_answered_here: bool = False
    """The bot has answered in this thread."""
    asked_here: bool = False
    """The author began this thread, or has asked the bot in it."""
    has_others: bool = False
    """Other people write in this thread, too."""


Rule = tuple[str, Callable[[MessageFacts], bool], Decision]

UNLESS = Decision.ANSWER_UNLESS_A_PERSON_DOES
TABLE: tuple[Rule, ...] = (
    ("a bot not allowed", lambda m: m.is_from_bot and not m.is_allowed_bot, Decision.IGNORE),
    ("never mind", lambda m: m.takes_back and not m.is_for_somebody_else, Decision.TAKE_BACK),
    ("a direct message", lambda m: m.place is Place.DIRECT, Decision.ANSWER),
    ("addressed", lambda m: m.is_addressed, Decision.ANSWER),
    ("nothing in it", lambda m: m.is_empty, Decision.IGNORE),
    ("for somebody else", lambda m: m.is_for_somebody_else, Decision.IGNORE),
    ("a muted thread", lambda m: m.is_muted, Decision.IGNORE),
    ("only an acknowledgement", lambda m: m.acknowledges, Decision.IGNORE),
    ("a post where the forum opted in", lambda m: _opted_in(m, Place.NEW_POST), UNLESS),
    ("asks where the channel opted in", lambda m: _opted_in(m, Place.CHANNEL) and m.asks, UNLESS),
    ("asks in an own thread", lambda m: m.place is Place.OWN_THREAD and m.asks, UNLESS),
    ("alone with the bot", lambda m: m.place is Place.OWN_THREAD and not m.has_others, UNLESS),
    ("asks on among people", lambda m: _asks_on(m), UNLESS),
    ("talk among people", lambda m: True, Decision.IGNORE),
)
"""The first row that fits decides."""


def _opted_in(message: MessageFacts, place: Place) -> bool:
    return message.auto_answer and message.place is place


def _asks_on(message: MessageFacts) -> bool:
    """Whether somebody whom the bot answered in a thread of people asks again there."""
    followed = message.was_answered_here and message.asked_here and message.asks
    return followed and message.place is Place.PEOPLES_THREAD


class AnswerPolicy:
    """Decides by the table, and holds other bots to their pace."""

    def __init__(self, *, pace: BotPace | None = None) -> None:
        self._pace = pace or BotPace()

    def decide(self, facts: MessageFacts, question: IncomingQuestion) -> Decision:
        decision = decide(facts)
        if decision.answers and facts.is_from_bot and not self._pace.allows(question):
            log.info("another bot asks too often", extra={"channel": question.key.channel_id})
            return Decision.IGNORE
        return decision


def decide(facts: MessageFacts) -> Decision:
    """What the table says of a message."""
    return next(decision for _, fits, decision in TABLE if fits(facts))
