"""Where the bot listens in Slack, what it reads there, and what becomes of afterthoughts."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.phrases import ENGLISH
from rag_core.agent.phrases import PHRASES as COMMON
from rag_core.agent.requests import ANSWER_THIS
from rag_core.books.policy import ChannelPolicy
from rag_core.conversation.context import MAX_CONTEXT, ContextItem, ContextKind
from rag_core.conversation.key import Platform
from tests.fakes.answers import an_answer
from tests.fakes.slack_desk import FakeDesk, desk_that_answers
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.fakes.tenants import slack_admissions, trusting
from tests.peers.slack import (
    ANN,
    BEN,
    BOT_USER,
    CLEO,
    DIRECT,
    GENERAL,
    MENTION,
    TEAM,
    Fault,
    SlackPeer,
)
from tests.peers.slack_world import SlackChannel

BOTH_WAYS = pytest.mark.parametrize("over", ["socket", "http"])
BUILDER = {"bot_id": "B0BUILD", "app_id": "A0BUILD"}


class OptedIn:
    """Channels in which every question is answered."""

    def __init__(self, *channels: str) -> None:
        self.channels = channels

    async def policy_for(self, *, channel_id: str, **place: Any) -> ChannelPolicy:
        return ChannelPolicy(auto_answer=channel_id in self.channels or None)


def said(author: str, text: str) -> ContextItem:
    return ContextItem(kind=ContextKind.THREAD, author=author, text=text)


def asked(desk: FakeDesk) -> list[str]:
    return [question.question.message for question in desk.questions.values()]


@BOTH_WAYS
async def test_a_channel_that_opted_in_has_its_questions_answered(over: str) -> None:
    desk = desk_that_answers()
    parts = {"policies": OptedIn(GENERAL)}
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over, parts=parts):
        for text in ("Where is the wiki?", "how do I log in", "lunch is ready", "¿cómo entro?"):
            peer.say(GENERAL, ANN, text)
        peer.say(GENERAL, ANN, f"<@{BEN}> can you help?")
        await settled(peer, desk)
        assert asked(desk) == ["Where is the wiki?", "how do I log in", "¿cómo entro?"]


@BOTH_WAYS
@pytest.mark.parametrize(("kind", "home"), [("group", TEAM), ("mpim", TEAM), ("channel", "T0AWAY")])
async def test_private_group_and_shared_places_and_guests_are_answered_like_any(
    kind: str, home: str, over: str
) -> None:
    """In a shared channel the asker is of another workspace, which is allowed; the conversation is
    ours."""
    desk, place = desk_that_answers(), "C0PLACE"
    parts = {"admissions": slack_admissions(trusting(Platform.SLACK, TEAM, "T0AWAY"))}
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over, parts=parts):
        peer.world.channels[place] = SlackChannel(place, kind, {ANN, BEN, BOT_USER})
        peer.world.home_of[ANN] = home
        away = {} if home == TEAM else {"team": home, "user_team": home, "source_team": home}
        ts = peer.say(place, ANN, f"{MENTION} how many a day?", **away)
        await settled(peer, desk)
        peer.say(place, ANN, "and a week?", thread_ts=ts, **away)
        peer.say(place, BEN, "lunch?")
        await settled(peer, desk)
        assert asked(desk) == ["how many a day?", "and a week?"]
        assert {q.key.tenant for q in desk.questions.values()} == {TEAM}
        assert len(peer.world.replies(place, ts)) == 2
        peer.edit(place, ts, f"{MENTION} how many an hour?")
        await settled(peer, desk)
        assert [question.question.message for question in desk.revised] == ["how many an hour?"]


async def test_a_place_that_was_archived_meanwhile_takes_no_answer_and_says_so() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.foresees("is_archived")
        desk.hold.clear()
        peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await peer.heard()
        peer.world.channels[GENERAL].archived = True
        desk.hold.set()
        await settled(peer, desk)
        [finding] = [f for f in await platform.findings() if GENERAL in f.detail]
        assert "Unarchive" in finding.advice
        tried = [call.arguments["channel"] for call in peer.calls("chat.postMessage")]
        assert tried == [GENERAL, ANN], "once there, and then to who asked"


async def test_who_is_answered_by_a_person_first_needs_no_answer_of_ours() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        thread = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        desk.hold.clear()
        own = peer.say(GENERAL, ANN, "and in a week?", thread_ts=thread)
        await peer.heard()
        added = peer.say(GENERAL, ANN, "I mean in a work week", thread_ts=thread)
        await peer.heard()
        peer.say(GENERAL, BEN, "fifty, as it says on the wall", thread_ts=thread)
        await peer.heard()
        assert {identity.message_id for identity in desk.withdrawn} == {own, added}
        peer.say(GENERAL, ANN, f"{MENTION} and in a month?", thread_ts=thread)
        await peer.heard()
        peer.say(GENERAL, BEN, "two hundred", thread_ts=thread)
        await peer.heard()
        assert len(desk.withdrawn) == 2, "who is asked by name answers"
        desk.hold.set()
        await settled(peer, desk)


async def test_another_persons_question_to_us_is_no_answer_to_the_first() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        thread = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        desk.hold.clear()
        peer.say(GENERAL, ANN, "and in a week?", thread_ts=thread)
        await peer.heard()
        peer.say(GENERAL, BEN, f"{MENTION} and in a month?", thread_ts=thread)
        await peer.heard()
        desk.hold.set()
        await settled(peer, desk)
        assert not desk.withdrawn
        assert len(peer.world.replies(GENERAL, thread)) == 3


async def test_other_bots_are_answered_only_where_they_are_allowed_and_not_too_often() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, allowed_bots=("A0BUILD",)):
        head = peer.say(GENERAL, ANN, "the build")
        for number in range(8):
            text = f"{MENTION} why did build {number} fail?"
            peer.say(GENERAL, BEN, text, thread_ts=head, **BUILDER)
        peer.say(GENERAL, BEN, f"{MENTION} beep?", bot_id="B0OTHER", thread_ts=head)
        for number in range(8):
            peer.say(GENERAL, ANN, f"{MENTION} and I ask {number}?", thread_ts=head)
        await settled(peer, desk)
        assert sum(text.startswith("why did build") for text in asked(desk)) == 5
        assert sum(text.startswith("and I ask") for text in asked(desk)) == 8
        assert not any(text.startswith("beep") for text in asked(desk))


@BOTH_WAYS
async def test_a_mention_in_a_thread_of_people_reads_that_thread(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        head = peer.say(GENERAL, ANN, "How many vacation days do new people get?")
        peer.say(GENERAL, BEN, "I &lt;think&gt; it was changed in May", thread_ts=head)
        peer.say(GENERAL, CLEO, f"{MENTION} do you know?", thread_ts=head)
        await settled(peer, desk)
        [question] = desk.questions.values()
        assert question.question.message == "do you know?"
        assert question.question.context == (
            said(ANN, "How many vacation days do new people get?"),
            said(BEN, "I <think> it was changed in May"),
        )
        assert question.key.thread_id == head
        peer.say(GENERAL, BEN, "Ask HR.", thread_ts=head)
        peer.say(GENERAL, CLEO, f"{MENTION} and older ones?", thread_ts=head)
        await settled(peer, desk)
        [_, again] = desk.questions.values()
        assert again.question.message == "and older ones?"
        assert said(BEN, "Ask HR.") in again.question.context


async def test_the_bots_bare_name_means_the_thread_itself() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        head = peer.say(GENERAL, ANN, "How many vacation days do new people get?")
        for number in range(60):
            peer.say(GENERAL, BEN, f"word {number} " + "and on " * 20, thread_ts=head)
        peer.say(GENERAL, CLEO, MENTION, thread_ts=head)
        await settled(peer, desk)
        [question] = desk.questions.values()
        assert question.question.message == ANSWER_THIS
        assert question.question.context[0].text == "How many vacation days do new people get?"
        assert question.question.context[-1].text.startswith("word 59")


async def test_a_message_that_is_shared_with_the_bot_is_what_is_asked_about() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        shared = {"is_share": True, "author_name": "Ben", "text": "How many vacation days?"}
        peer.say(DIRECT, ANN, "", attachments=[shared])
        await settled(peer, desk)
        [question] = desk.questions.values()
        assert question.question.message == ANSWER_THIS
        assert question.question.context == (
            ContextItem(kind=ContextKind.REPLY, author="Ben", text="How many vacation days?"),
        )


async def test_in_a_thread_of_people_only_who_asked_goes_on_without_a_mention() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        head = peer.say(GENERAL, ANN, "How many vacation days do new people get?")
        peer.say(GENERAL, CLEO, f"{MENTION} do you know?", thread_ts=head)
        await settled(peer, desk)
        peer.say(GENERAL, BEN, "Ann, are you in the office?", thread_ts=head)
        peer.say(GENERAL, CLEO, "I see.", thread_ts=head)
        peer.say(GENERAL, CLEO, "And in the second year?", thread_ts=head)
        await settled(peer, desk)
        assert asked(desk) == ["do you know?", "And in the second year?"]


async def test_of_a_long_thread_the_newest_is_read_and_a_long_message_leaves_room() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        head = peer.say(GENERAL, ANN, "Vacation is confusing.")
        for number in range(450):
            peer.say(GENERAL, BEN, f"word {number}", thread_ts=head)
        peer.say(GENERAL, BEN, "a log: " + "x" * 900, thread_ts=head)
        peer.say(GENERAL, CLEO, f"{MENTION} who decides?", thread_ts=head)
        await settled(peer, desk)
        [question] = desk.questions.values()
        assert question.question.message == "who decides?"
        context = question.question.context
        assert context[0] == said(ANN, "Vacation is confusing.")
        assert context[-2:] == (said(BEN, "word 449"), said(BEN, "a log: " + "x" * 900))
        assert sum(item.size for item in context) <= MAX_CONTEXT
        assert len(peer.calls("conversations.replies")) == 3


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.RATE_LIMITED, Fault.GARBAGE])
async def test_a_thread_that_cannot_be_read_is_answered_all_the_same(fault: Fault) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("ratelimited")
        head = peer.say(GENERAL, ANN, "How many vacation days?")
        peer.fails("conversations.replies", fault, fault, fault)
        peer.say(GENERAL, CLEO, f"{MENTION} do you know?", thread_ts=head)
        await settled(peer, desk)
        assert asked(desk) == ["do you know?"]


async def test_short_text_files_are_read_and_images_are_not() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        why = f"{MENTION} why?"
        peer.share_file(GENERAL, ANN, why, "fail.log", b"disk full at line 7", "text/plain")
        await settled(peer, desk)
        [question] = desk.questions.values()
        assert question.question.message == "why?"
        assert question.question.context == (
            ContextItem(kind=ContextKind.ATTACHMENT, text="fail.log:\ndisk full at line 7"),
        )
        for name, content, kind in (
            ("huge.log", b"x" * 20_001, "text/plain"),
            ("shot.png", b"\x89PNG", "image/png"),
            ("odd.txt", b"a\0b", "text/plain"),
        ):
            ts = peer.share_file(GENERAL, ANN, why, name, content, kind)
            await settled(peer, desk)
            assert asked(desk)[-1] == "why?"
            [reply] = peer.world.replies(GENERAL, ts)
            assert reply.seen.startswith(ENGLISH.unread)


async def test_without_the_scope_files_are_not_read_and_the_findings_say_so() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.api.scopes.discard("files:read")
        peer.share_file(GENERAL, ANN, f"{MENTION} why?", "fail.log", b"disk full", "text/plain")
        await settled(peer, desk)
        assert asked(desk) == ["why?"]
        assert any("files:read" in f.advice for f in await platform.findings())


async def test_the_bots_words_are_in_the_askers_language() -> None:
    desk = FakeDesk(lambda question: an_answer("Zehn [1].", source_changed=True))
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.world.locales[ANN] = "de-DE"
        ts = peer.say(GENERAL, ANN, f"{MENTION} Urlaub")
        await settled(peer, desk)
        [question] = desk.questions.values()
        assert question.locale == "de-DE"
        assert COMMON["de"].changed in peer.world.replies(GENERAL, ts)[0].seen


async def test_where_slack_does_not_tell_the_language_it_is_english() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("missing_scope")
        peer.api.scopes.discard("users:read")
        for _ in range(3):
            peer.say(DIRECT, ANN, "how many?")
        await settled(peer, desk)
        assert {question.locale for question in desk.questions.values()} == {"en"}
        assert len(peer.calls("users.info")) <= 3


async def test_whom_slack_cannot_tell_of_is_not_asked_about_at_each_message() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("internal_error")
        peer.api.standing["users.info"] = "internal_error"
        for _ in range(3):
            peer.say(DIRECT, ANN, "how many?")
            await settled(peer, desk)
        assert [question.locale for question in desk.questions.values()] == ["en"] * 3
        assert len(peer.calls("users.info")) == 1


@BOTH_WAYS
async def test_an_edit_revises_the_question_and_an_unfurl_does_not(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        ts = peer.say(GENERAL, ANN, f"{MENTION} see https://x.example how many a day?")
        await settled(peer, desk)
        peer.unfurl(GENERAL, ts)
        await peer.heard()
        assert not desk.revised
        peer.edit(GENERAL, ts, f"{MENTION} how many a week?")
        await peer.heard()
        [revised] = desk.revised
        assert revised.question.message == "how many a week?"
        assert len(peer.world.replies(GENERAL, ts)) == 1


@BOTH_WAYS
async def test_a_deleted_question_loses_its_answer_though_its_grave_stays(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        assert len(peer.world.replies(GENERAL, ts)) == 1
        peer.delete(GENERAL, ts)
        await peer.heard()
        assert [identity.message_id for identity in desk.withdrawn] == [ts]
        assert not peer.world.replies(GENERAL, ts)
        desk.hold.clear()
        alone = peer.say(DIRECT, ANN, "how many a day?")
        await peer.heard()
        peer.delete(DIRECT, alone)
        await peer.heard()
        desk.hold.set()
        await settled(peer, desk)
        assert [identity.message_id for identity in desk.withdrawn] == [ts, alone]
        assert len(list(peer.world.everything_of_the_bot())) == 0


@pytest.mark.parametrize("words", ["never mind", "Never mind, thanks!", "vergiss es"])
async def test_never_mind_takes_the_askers_last_question_back(words: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        first = peer.say(DIRECT, ANN, "how many a day?")
        second = peer.say(DIRECT, ANN, "how many a week?")
        await settled(peer, desk)
        said = peer.say(DIRECT, ANN, words)
        await until(lambda: (DIRECT, said, "ok_hand") in peer.house.reactions)
        assert [identity.message_id for identity in desk.withdrawn] == [second]
        assert not peer.world.replies(DIRECT, second)
        assert len(peer.world.replies(DIRECT, first)) == 1
        assert asked(desk) == ["how many a day?", "how many a week?"]


async def test_a_broadcast_reply_is_one_question() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        thread = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        ts = peer.say(GENERAL, ANN, "and in a week?", thread_ts=thread, subtype="thread_broadcast")
        peer.unfurl(GENERAL, ts)
        await settled(peer, desk)
        assert len(desk.questions) == 2
        assert not desk.revised
