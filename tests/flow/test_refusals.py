"""Who may not ask any more is told so each time, in words, and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from adapters.refusals import SECONDS, RefusalPace, refusal_sentence
from adapters.slack.acting.commands import SEARCHING
from rag_core.desk.incoming import Receipt, Refusal
from rag_core.desk.limits import Bounds
from rag_core.desk.notices import NOTICES, notices_in
from rag_core.storage.engines.database import Database
from tests.builders import a_question
from tests.flow.chat_office import discord_office, slack_office, until
from tests.peers.discord_world import TEXT
from tests.peers.slack import ANN, BEN, DIRECT, GENERAL, MENTION

ONE_AN_HOUR = Bounds(user_hour=1)
WORDS = "You have asked as many questions as one person may in an hour"
UNTIL = "in 60 minutes"


async def test_a_slack_command_is_answered_in_words_however_often_it_is_used(
    database: Database,
) -> None:
    async with slack_office(database, ONE_AN_HOUR) as (office, peer):
        said = []
        for _ in range(4):
            envelope = peer.people.command(ANN, "/ask", "How many a day?", GENERAL)
            await peer.heard()
            said.append(str(envelope.response["text"]))
            await office.until_done()
        assert said[:2] == [SEARCHING, SEARCHING], "the answer and the notice come by themselves"
        assert all(WORDS in sentence and UNTIL in sentence for sentence in said[2:])
        assert len(peer.house.whispers) == 2


async def test_slack_mentions_and_direct_messages_over_the_limit_meet_words(
    database: Database,
) -> None:
    async with slack_office(database, ONE_AN_HOUR) as (office, peer):
        for channel, person in ((GENERAL, ANN), (DIRECT, ANN), (GENERAL, BEN)):
            peer.say(channel, person, f"{MENTION} How many a day?")
            await peer.heard()
            await office.until_done()
        assert "Declined: user" in " ".join(m.seen for m in peer.world.everything_of_the_bot())
        assert peer.house.whispers == []
        for _ in range(5):
            peer.say(GENERAL, ANN, f"{MENTION} And a week?")
        await peer.heard()
        await until(lambda: peer.house.whispers)
        [told] = peer.house.whispers
        assert told.user == ANN
        assert WORDS in told.seen


async def test_an_overfull_queue_is_said_in_words_on_slack(database: Database) -> None:
    async with slack_office(database, Bounds(waiting=1)) as (office, peer):
        office.answers.thinks.clear()
        peer.say(GENERAL, ANN, f"{MENTION} How many a day?")
        await peer.heard()
        await until(lambda: office.answers.asked)
        for person in (ANN, BEN):
            peer.say(GENERAL, person, f"{MENTION} And a week?")
            await peer.heard()
        office.answers.thinks.set()
        await office.until_done()
        declined = [m.seen for m in peer.world.everything_of_the_bot() if "Declined" in m.seen]
        assert len(declined) == 2, "each is told, by the desk, as an answer"
        envelope = peer.people.command(BEN, "/ask", "How many a day?", GENERAL)
        await peer.heard()
        assert str(envelope.response["text"]) == SEARCHING


async def test_a_desk_that_takes_nothing_more_says_so_at_once(database: Database) -> None:
    async with slack_office(database, Bounds(waiting=1, waiting_notices=0)) as (office, peer):
        office.answers.thinks.clear()
        peer.say(GENERAL, ANN, f"{MENTION} How many a day?")
        await peer.heard()
        await until(lambda: office.answers.asked)
        envelope = peer.people.command(BEN, "/ask", "How many a day?", GENERAL)
        peer.say(GENERAL, BEN, f"{MENTION} And a week?")
        await until(lambda: peer.house.whispers)
        assert [whisper.user for whisper in peer.house.whispers] == [BEN]
        assert "Very many questions" in peer.house.whispers[0].seen
        assert "Very many questions" in str(envelope.response["text"])
        office.answers.thinks.set()
        await office.until_done()


async def test_a_discord_command_over_the_limit_never_goes_on_thinking(
    database: Database,
) -> None:
    async with discord_office(database, ONE_AN_HOUR) as (office, peer):
        channel = next(c for c in peer.world.channels.values() if c.kind == TEXT)
        alice = peer.world.person("alice")
        said = []
        for _ in range(4):
            used = await peer.interactions.slash(channel, alice, "ask", question="How many a day?")
            await until(lambda used=used: used.shown)
            said.append(" ".join(used.texts))
            await office.until_done()
        assert all(WORDS in sentence and UNTIL in sentence for sentence in said[2:])


async def test_discord_mentions_over_the_limit_meet_words_and_a_flood_meets_few(
    database: Database,
) -> None:
    async with discord_office(database, ONE_AN_HOUR) as (office, peer):
        channel = next(c for c in peer.world.channels.values() if c.kind == TEXT)
        alice, bob = peer.world.person("alice"), peer.world.person("bob")
        for person in (alice, bob):
            for _ in range(6):
                await peer.say(channel, person, "How many a day?", mentions_bot=True)
        told = lambda: [n for n in peer.seen_in(channel.id) if WORDS in n.content]  # noqa: E731
        await until(lambda: len(told()) == 2)
        await office.until_done()
        assert [note.reference.author for note in told() if note.reference] == [alice, bob]
        assert all(UNTIL in note.content for note in told())


@pytest.mark.parametrize("refusal", list(Refusal))
@pytest.mark.parametrize("locale", sorted(NOTICES))
def test_every_refusal_has_a_sentence_that_the_platform_says_itself(
    refusal: Refusal, locale: str
) -> None:
    at = datetime.now(UTC) + timedelta(minutes=17, seconds=-5)
    receipt = Receipt(
        question_id=uuid4(), repeated=False, refusal=refusal, retry_at=at, notice_follows=False
    )
    sentence = refusal_sentence(receipt, locale=locale)
    assert "{" not in sentence
    assert ("17" in sentence) == (refusal in {Refusal.USER, Refusal.CHANNEL})
    assert not refusal_sentence(replace(receipt, notice_follows=True), locale=locale)
    assert not refusal_sentence(replace(receipt, repeated=True), locale=locale)


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(0.5, "in a minute"), (1.5, "in 2 minutes"), (90, "in 90 minutes"), (91, "in 2 hours")],
)
def test_the_time_is_said_as_people_say_it(minutes: float, words: str) -> None:
    at = datetime.now(UTC) + timedelta(minutes=minutes, milliseconds=-100)
    assert notices_in("en").when(at) == words
    assert notices_in("en").when(None) == "a little later"


def test_each_asker_is_told_now_and_then() -> None:
    now = [0.0]
    pace = RefusalPace(clock=lambda: now[0])
    ann, ben = a_question(asker_id="ann"), a_question(asker_id="ben")
    assert [pace.allows(each) for each in (ann, ann, ben, ben)] == [True, False, True, False]
    now[0] = SECONDS
    assert pace.allows(ann)
