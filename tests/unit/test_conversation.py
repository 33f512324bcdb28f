"""Messages, turns and threads hold their rules from the moment they are made."""

from __future__ import annotations

from datetime import datetime

import pytest

from rag_core.conversation.key import LOCAL_TENANT, ConversationKey, Platform
from rag_core.conversation.message import Message, Role, ToolCall
from rag_core.conversation.state import Turn
from tests.builders import NOON, a_thread

CALL = ToolCall(id="call-1", name="retrieve_documentation", arguments='{"query": "limits"}')


def test_a_tool_message_carries_the_id_that_the_api_refuses_to_miss() -> None:
    message = Message.tool("{}", name="retrieve_documentation", tool_call_id="call-1", at=NOON)
    assert message.as_chat() == {"role": "tool", "content": "{}", "tool_call_id": "call-1"}


def test_an_assistant_message_renders_its_tool_calls() -> None:
    chat = Message.assistant("", at=NOON, tool_calls=(CALL,)).as_chat()
    assert chat["content"] is None
    assert chat["tool_calls"] == [
        {
            "id": "call-1",
            "type": "function",
            "function": {"name": CALL.name, "arguments": CALL.arguments},
        }
    ]


def test_plain_messages_render_as_role_and_content() -> None:
    for made, role in ((Message.user, "user"), (Message.system, "system")):
        assert made("Hello", at=NOON).as_chat() == {"role": role, "content": "Hello"}
    assert Message.assistant("Hi", at=NOON, confidence=0.5).as_chat() == {
        "role": "assistant",
        "content": "Hi",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": Role.USER, "content": " \n"},
        {"role": Role.TOOL, "content": "{}"},
        {"role": Role.USER, "content": "Hi", "tool_call_id": "call-1"},
        {"role": Role.USER, "content": "Hi", "name": "Bob"},
        {"role": Role.USER, "content": "Hi", "confidence": 0.5},
        {"role": Role.USER, "content": "Hi", "tool_calls": (CALL,)},
        {"role": Role.ASSISTANT, "content": "Hi", "confidence": 1.1},
    ],
)
def test_a_message_that_breaks_a_rule_cannot_be_made(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Message(timestamp=NOON, **wrong)  # type: ignore[arg-type]


def test_a_message_without_a_timezone_cannot_be_made() -> None:
    with pytest.raises(ValueError):
        Message.user("Hi", at=datetime(2026, 3, 1))


def test_a_turn_is_one_question_and_its_answer() -> None:
    user, answer = Message.user("How many?", at=NOON), Message.assistant("Ten.", at=NOON)
    session = a_thread().session_id
    Turn(session_id=session, messages=(user, answer))
    for wrong in ((), (user,), (answer,), (answer, user), (user, user, answer)):
        with pytest.raises(ValueError):
            Turn(session_id=session, messages=wrong)


def test_a_thread_starts_with_its_system_message() -> None:
    with pytest.raises(ValueError):
        a_thread(messages=(Message.user("Hi", at=NOON),))


def test_a_topic_summary_is_bounded() -> None:
    assert a_thread(topic_summary="x" * 200).topic_summary
    with pytest.raises(ValueError):
        a_thread(topic_summary="x" * 201)


def test_turns_are_grouped_by_question_and_a_cut_one_is_left_out() -> None:
    system, user = Message.system("", at=NOON), Message.user("How many?", at=NOON)
    tail, answer = Message.assistant("tail", at=NOON), Message.assistant("Ten.", at=NOON)
    thread = a_thread(messages=(system, tail, user, answer, user))
    assert thread.turns == ((user, answer), (user,))


@pytest.mark.parametrize("missing", ["tenant", "channel_id", "thread_id"])
def test_a_conversation_key_has_no_empty_part(missing: str) -> None:
    parts = {"tenant": LOCAL_TENANT, "channel_id": "c", "thread_id": "t"} | {missing: ""}
    with pytest.raises(ValueError, match=missing):
        ConversationKey(platform=Platform.SLACK, **parts)  # type: ignore[arg-type]
