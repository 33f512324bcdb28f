"""Which questions are the same, and which threads somebody may be led to."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import uuid4

import numpy as np
import pytest

from adapters.discord.acting.asking import TOKEN
from adapters.discord.answering.renderer import DiscordRenderer
from adapters.discord.earlier import BY_COMMAND
from adapters.slack.answering.renderer import SlackRenderer
from adapters.web.pages.views import answer_html
from adapters.web.renderer import WebRenderer
from bot.earlier import OPENS
from rag_core.agent.answer import EarlierThread
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import Rung
from rag_core.insight.repeats import Asked, Candidate, is_same, likest
from tests.builders import NOON, a_question, a_response

ASKED = a_question()
SAME = (
    ("When does the reading room open in summer?", "What time does the reading room open, summer?"),
    ("How do I reset my password?", "I forgot my password, how can I reset it?"),
    ("What is a quaternion?", "explain quaternions"),
    ("When is homework 2 due?", "homework 2 due date"),
)
OTHER = (
    ("When does the reading room open in summer?", "When does the reading room open in winter?"),
    ("When does the reading room open?", "When does the reading room close?"),
    ("When is homework 2 due?", "When is homework 3 due?"),
    ("When is homework due?", "When is homework 3 due?"),
    ("How do I install it on Ubuntu?", "How do I install it on Windows?"),
    ("Can I pay by card?", "Why can I not pay by card?"),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_who_says_the_same_in_other_words_asks_the_same(one: str, other: str) -> None:
    assert is_same(one, other)
    assert is_same(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_who_asks_for_something_else_does_not(one: str, other: str) -> None:
    assert not is_same(one, other)
    assert not is_same(other, one)


def candidate(digest: str, *values: float) -> Candidate:
    return Candidate(str(uuid4()), digest, np.array(values, dtype="<f2").tobytes())


def test_the_same_words_come_first_and_what_is_far_does_not_come_at_all() -> None:
    asked = Asked(question_id=uuid4(), place="p", digest="same", vector=(1.0, 0.0))
    same = candidate("same")
    near = candidate("a", 0.9, 0.1)
    nearer = candidate("b", 1.0, 0.0)
    far = candidate("c", 0.0, 1.0)
    another_model = candidate("d", 1.0, 0.0, 0.0)
    known = [far, near, another_model, nearer, same]
    assert likest(asked, known, least=0.9) == [same, nearer, near]
    assert likest(asked, known, least=0.995) == [same, nearer]
    assert likest(asked, [], least=0.9) == []


def said(platform: Platform, tenant: str, channel: str, thread: str = "") -> IncomingQuestion:
    message = "171.5" if platform is Platform.SLACK else "77"
    key = ConversationKey(
        platform=platform,
        tenant=TenantId(tenant),
        channel_id=channel,
        thread_id=thread or message,
    )
    return a_question(key=key, message_id=message)


def test_only_threads_that_everybody_in_the_channel_reads_are_linked() -> None:
    slack, discord = OPENS[Platform.SLACK], OPENS[Platform.DISCORD]
    in_slack, in_discord = said(Platform.SLACK, "T1", "C1"), said(Platform.DISCORD, "5", "6")
    assert slack(in_slack)
    assert discord(in_discord)
    assert not slack(said(Platform.SLACK, "T1", "D1"))
    assert not slack(said(Platform.SLACK, "T1", "G1"))
    assert not slack(said(Platform.SLACK, "T1", "C1", thread="170.1"))
    assert not discord(said(Platform.DISCORD, "direct", "6"))
    assert not discord(said(Platform.DISCORD, "5", "6", thread="70"))
    assert not discord(replace(in_discord, address={BY_COMMAND: "token"}))
    assert not slack(replace(in_slack, private=True))
    assert not discord(replace(in_discord, private=True))
    assert Platform.CLI not in OPENS
    assert BY_COMMAND == TOKEN


EARLIER = EarlierThread(
    key=ConversationKey(
        platform=Platform.SLACK, tenant=TenantId("T1"), channel_id="C1", thread_id="171.5"
    ),
    message_id="171.5",
    asked_at=NOON,
)


@pytest.mark.parametrize("rung", list(Rung))
def test_slack_shows_one_line_with_the_way_to_the_thread(rung: Rung) -> None:
    shown = "".join(SlackRenderer().render(a_response(asked_before=EARLIER), ASKED, rung=rung))
    assert shown.count("Asked before:") == (2 if rung in {Rung.RICH, Rung.SPLIT} else 1)
    assert "https://app.slack.com/client/T1/C1/thread/C1-171.5" in shown
    assert "Asked before" not in "".join(SlackRenderer().render(a_response(), ASKED, rung=rung))


@pytest.mark.parametrize("rung", list(Rung))
def test_discord_shows_one_line_with_the_way_to_the_thread(rung: Rung) -> None:
    key = ConversationKey(
        platform=Platform.DISCORD, tenant=TenantId("5"), channel_id="6", thread_id="77"
    )
    before = replace(EARLIER, key=key, message_id="77")
    shown = "".join(DiscordRenderer().render(a_response(asked_before=before), ASKED, rung=rung))
    assert shown.count("Asked before:") == 1
    assert "<https://discord.com/channels/5/77>" in shown
    assert "Asked before" not in "".join(DiscordRenderer().render(a_response(), ASKED, rung=rung))


ON_THE_PAGE = replace(
    EARLIER,
    key=ConversationKey(
        platform=Platform.WEB, tenant=TenantId("local"), channel_id="me", thread_id="secret-id"
    ),
)


def test_the_page_names_the_later_answer_alone() -> None:
    response = a_response(asked_before=ON_THE_PAGE)
    shown = answer_html(response, {}, {})
    assert f"/page/earlier/{response.answer_id}" in shown
    assert "secret-id" not in shown


def test_an_answer_over_http_is_the_same_document_whether_it_was_asked_before_or_not() -> None:
    first, again = (
        json.loads(WebRenderer().render(a_response(asked_before=before), ASKED)[0])
        for before in (None, ON_THE_PAGE)
    )
    assert first.keys() == again.keys()
