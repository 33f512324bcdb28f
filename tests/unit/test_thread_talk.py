"""Only a person's answer to that very question stands it down."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.thread_talk import ThreadTalk
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion
from tests.builders import a_key, a_question

THREAD = a_key("100")
HEAD = "100"


class Room:
    """A thread that began with Ann's question."""

    def __init__(self) -> None:
        self.talk = ThreadTalk()
        self._number = 100
        self.ask("ann", "How many a day?", number=100)
        self.talk.begin(self.last)

    def _message(self, author: str, text: str, number: int = 0) -> IncomingQuestion:
        self._number = number or self._number + 1
        self.last = replace(
            a_question(),
            key=THREAD,
            message_id=str(self._number),
            position=f"{self._number:020d}",
            asker_id=author,
            question=Question(message=text),
        )
        return self.last

    def ask(self, author: str, text: str, *, number: int = 0) -> IncomingQuestion:
        """A message that the bot will answer unless a person does."""
        question = self._message(author, text, number)
        assert not self.talk.hear(question, text=text, in_thread=True)
        self.talk.ask(question, may_be_answered_by_others=True)
        return question

    def say(self, author: str, text: str, *, replies_to: str = "") -> list[str]:
        """The questions that this answers."""
        said = self._message(author, text)
        found = self.talk.hear(said, text=text, in_thread=True, replies_to=replies_to)
        return [identity.message_id for identity in found]


def test_twenty_askers_stand_nothing_down() -> None:
    room = Room()
    for number in range(20):
        asked = ("And on day {}?", "tell me about day {}", "I need help with day {}")[number % 3]
        room.ask(f"person{number}", asked.format(number))


def test_a_statement_right_after_answers_where_two_talk_alone() -> None:
    room = Room()
    asked = room.ask("ann", "And on Sundays?")
    assert room.say("ben", "Sundays are free.") == [asked.message_id]
    assert room.say("ben", "As I said, they are free.") == [], "once"


def test_what_the_asker_adds_goes_with_the_question() -> None:
    room = Room()
    first = room.ask("ann", "And on Sundays?")
    added = room.ask("ann", "I mean for students")
    assert room.say("ben", "Sundays are free.") == [added.message_id, first.message_id]


def test_of_two_questions_the_last_is_answered() -> None:
    room = Room()
    room.ask("ann", "And on Sundays?")
    second = room.ask("ann", "And on holidays?")
    assert room.say("ben", "Holidays are free.") == [second.message_id]


@pytest.mark.parametrize("words", ["me too", "thanks", "ok", "good morning", "And for me?", "👍"])
def test_small_talk_and_questions_answer_nothing(words: str) -> None:
    room = Room()
    room.ask("ann", "And on Sundays?")
    assert room.say("ben", words) == []


def test_among_three_nobody_knows_whom_a_statement_answers() -> None:
    room = Room()
    room.ask("ann", "And on Sundays?")
    room.ask("cleo", "And on holidays?")
    assert room.say("ben", "They are free.") == []


def test_a_reply_answers_its_message_however_many_talk() -> None:
    room = Room()
    first = room.ask("ann", "And on Sundays?")
    room.ask("cleo", "And on holidays?")
    assert room.say("ben", "They are free.", replies_to=first.message_id) == [first.message_id]
    assert room.say("ben", "Both of them.", replies_to="100") == []


def test_who_asked_answers_nothing_by_saying_more() -> None:
    room = Room()
    asked = room.ask("ann", "And on Sundays?")
    assert room.say("ann", "Found it in the handbook.", replies_to=asked.message_id) == []


def test_a_question_that_the_bot_has_begun_is_not_stood_down() -> None:
    room = Room()
    room.talk.begin(room.ask("ann", "And on Sundays?"))
    assert room.say("ben", "Sundays are free.") == []


def test_a_statement_heard_late_answers_no_later_question() -> None:
    room = Room()
    early = room._message("ben", "They are free.", 101)
    room.ask("ann", "And on Sundays?", number=102)
    assert not room.talk.hear(early, text="They are free.", in_thread=True)


def test_it_is_known_who_talks_in_a_thread_and_who_asked() -> None:
    room = Room()
    assert not room.talk.has_others(THREAD, "ann")
    room.say("ben", "Sundays are free.")
    assert room.talk.has_others(THREAD, "ann")
    assert room.talk.has_asked(THREAD, "ann")
    assert not room.talk.has_asked(THREAD, "ben")
    assert ThreadTalk().has_asked(THREAD, "ben"), "after a restart it may have been anybody"
    assert room.talk.began_with_question(THREAD)
    assert not room.talk.began_with_question(a_key("101"))
