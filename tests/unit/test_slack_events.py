"""What people write in Slack becomes a question, or nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.hearing.events import BARE_MENTION, Heard, heard_in
from adapters.slack.installing.workspace import Workspace
from rag_core.conversation.context import ContextItem, ContextKind
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.question import MAX_QUESTION

WORKSPACE = Workspace(team_id=TenantId("T1"), bot_user_id="U0BOT", bot_id="B0BOT")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TS = "1790000001.000001"


def heard(text: str = "<@U0BOT> why?", **changes: Any) -> Heard | None:
    event: dict[str, Any] = {
        "type": "message",
        "channel": "C1",
        "channel_type": "channel",
        "user": "U1",
        "ts": TS,
        "text": text,
    }
    fields = event | changes
    event = {name: value for name, value in fields.items() if value is not None}
    found = heard_in({"event": event}, WORKSPACE, heard_at=NOW)
    assert found is None or isinstance(found, Heard)
    return found


def asked(text: str, **changes: Any) -> str:
    found = heard(text, **changes)
    assert found is not None
    return found.question.question.message


def test_a_question_carries_its_place_its_asker_and_its_position() -> None:
    found = heard(thread_ts="1790000000.000001")
    assert found is not None
    question = found.question
    assert found.addressed
    assert question.key.platform is Platform.SLACK
    assert (question.key.tenant, question.key.channel_id) == ("T1", "C1")
    assert question.key.thread_id == "1790000000.000001"
    assert (question.message_id, question.position, question.asker_id) == (TS, TS, "U1")
    assert question.heard_at == NOW


def test_both_kinds_of_event_have_one_identity() -> None:
    one, other = heard(type="app_mention", channel_type=None), heard()
    assert one is not None
    assert other is not None
    assert one.question == other.question


@pytest.mark.parametrize(
    "changes",
    [
        {"bot_id": "B0BOT"},
        {"user": "U0BOT"},
        {"user": "USLACKBOT"},
        {"user": None},
        {"subtype": "message_changed", "hidden": True},
        {"subtype": "message_deleted"},
        {"subtype": "channel_join"},
        {"hidden": True},
        {"type": "reaction_added"},
        {"ts": None},
        {"channel": None},
    ],
)
def test_what_no_person_said_is_nothing(changes: dict[str, Any]) -> None:
    assert heard(**changes) is None


@pytest.mark.parametrize("subtype", [None, "file_share", "thread_broadcast", "me_message"])
def test_what_a_person_said_in_another_way_counts(subtype: str | None) -> None:
    assert heard(subtype=subtype) is not None


@pytest.mark.parametrize("body", [{}, {"event": None}, {"event": []}, {"event": {}}])
def test_an_event_without_content_is_nothing(body: dict[str, Any]) -> None:
    assert heard_in(body, WORKSPACE, heard_at=NOW) is None


def test_talk_in_a_channel_or_thread_is_not_surely_for_the_bot() -> None:
    for thread in (None, "1790000000.000001"):
        found = heard("and in Python?", thread_ts=thread)
        assert found is not None
        assert (found.addressed, found.in_thread) == (False, thread is not None)


@pytest.mark.parametrize(
    "changes",
    [
        {"bot_id": "B1"},
        {"bot_id": "B1", "user": None, "subtype": "bot_message"},
        {"bot_profile": {"id": "B1"}},
        {"bot_id": "B9", "bot_profile": {"id": "B1", "app_id": "A1"}},
    ],
)
def test_what_another_program_said_carries_its_names(changes: dict[str, Any]) -> None:
    found = heard(**changes)
    assert found is not None
    assert "B1" in found.bot_ids


@pytest.mark.parametrize("text", ["<@U2> have you seen this?", "<!subteam^S1|@ops> please look"])
def test_words_to_others_are_known_by_their_first_name(text: str) -> None:
    found = heard(text, thread_ts="1790000000.000001")
    assert found is not None
    assert found.is_for_somebody_else


@pytest.mark.parametrize("text", ["thanks, but why?", "does <@U2> have to sign?"])
def test_who_only_names_somebody_else_speaks_to_everybody(text: str) -> None:
    found = heard(text, thread_ts="1790000000.000001")
    assert found is not None
    assert not found.is_for_somebody_else


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<@U0BOT> why?", "why?"),
        ("<@U0BOT|footnote>: why?", "why?"),
        ("hey <@U0BOT>, why?", "hey why?"),
        ("<@U0BOT>\nfirst\nsecond", "first\nsecond"),
        ("<@U0BOT> ask <@U2|ann> in <#C2|general>", "ask @ann in #general"),
        ("<@U0BOT> <!here> a &lt; b &amp;&amp; c &gt; d", "@here a < b && c > d"),
        ("<@U0BOT> see <https://x.example/a?b=1&amp;c=2>", "see https://x.example/a?b=1&c=2"),
        ("<@U0BOT> see <https://x.example|the page>", "see the page (https://x.example)"),
        ("<@U0BOT> see <http://x.example|x.example>", "see http://x.example"),
        ("<@U0BOT> write to <mailto:a@x.example|a@x.example>", "write to a@x.example"),
        ("<@U0BOT> by <!date^1^{date}|Monday>", "by Monday"),
        ("<@U0BOT>", BARE_MENTION),
        ("<@U0BOT> \u200b", BARE_MENTION),
    ],
)
def test_markup_is_read_as_people_see_it(written: str, read: str) -> None:
    assert asked(written) == read


def test_a_pasted_log_is_context_beside_the_question() -> None:
    log = "\n".join(f"line {number} of the log" for number in range(200))
    written = f"Why does this fail?\n```\n{log}\n```"
    found = heard(f"<@U0BOT> {written}")
    assert found is not None
    assert found.question.question.message == "Why does this fail?"
    [paste] = found.question.question.context
    assert paste.kind is ContextKind.PASTE
    assert paste.text == f"```\n{log}\n```"
    assert found.question.original_length == len(written)


def test_a_shared_message_is_context() -> None:
    shared = {"is_share": True, "author_name": "Ann", "text": "How many days do I get?"}
    found = heard("<@U0BOT>", attachments=[shared, {"text": "a preview of a page"}])
    assert found is not None
    assert found.shared == (
        ContextItem(kind=ContextKind.REPLY, author="Ann", text="How many days do I get?"),
    )


@given(text=st.text(max_size=3_000), thread=st.sampled_from([None, "1790000000.000001"]))
def test_any_message_is_a_valid_question_or_nothing(text: str, thread: str | None) -> None:
    for channel_type in ("channel", "im"):
        found = heard(text, thread_ts=thread, channel_type=channel_type)
        if found is not None:
            assert 1 <= len(found.question.question.message) <= MAX_QUESTION
