"""Threads: one open session, history that lasts, and nothing left after a deletion."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from rag_core.conversation.key import LOCAL_TENANT, Platform
from rag_core.conversation.message import Message, Role, ToolCall
from rag_core.conversation.state import SUMMARISED, RetrievalRecord, Turn
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.engines.statement import Statement
from rag_core.storage.feedback import Feedback
from rag_core.storage.schema import metadata
from tests.builders import NOON, a_key, a_response, a_turn
from tests.contract.desk_work import DeskWork

CHANNEL = {"platform": Platform.WEB, "tenant": LOCAL_TENANT, "channel_id": "channel-1"}


@pytest.fixture
def desk(database: Database) -> DeskWork:
    return DeskWork(database)


async def test_a_new_thread_has_one_session_that_starts_with_its_system_message(
    desk: DeskWork,
) -> None:
    state = await desk.open()
    assert state.key == a_key()
    assert (state.session_number, state.turn_count, state.model) == (1, 0, "scripted")
    assert [(m.role, m.content) for m in state.messages] == [(Role.SYSTEM, "")]
    assert state.session_id.version == 4
    assert state.created_at.utcoffset() == timedelta(0)
    assert await desk.open() == state


async def test_many_who_open_a_thread_at_once_get_the_same_session(desk: DeskWork) -> None:
    states = await asyncio.gather(*(desk.open() for _ in range(20)))
    assert len({state.session_id for state in states}) == 1


async def test_messages_come_back_exactly_as_they_were_said(desk: DeskWork) -> None:
    state = await desk.open()
    call = ToolCall(id="call-1", name="retrieve_documentation", arguments='{"query": "límits"}')
    turn = Turn(
        session_id=state.session_id,
        messages=(
            Message.user("  How many\x00 a day? 👩‍🚀 \u202e", at=NOON),
            Message.assistant("", at=NOON, tool_calls=(call,)),
            Message.tool('{"results": []}', name=call.name, tool_call_id=call.id, at=NOON),
            Message.assistant("Ten a day [1].", at=NOON, confidence=0.1 + 0.2),
        ),
        retrievals=(
            RetrievalRecord(
                tool_name=call.name,
                query="límits",
                results_count=3,
                avg_similarity=1 / 3,
                timestamp=NOON,
            ),
        ),
        metadata={"askers": ["asker-1"], "module": None},
    )
    await desk.exchange(turn=turn)
    found = await desk.open()
    assert found.messages[1:] == turn.messages
    assert [m.as_chat() for m in found.messages[1:]] == [m.as_chat() for m in turn.messages]
    assert found.retrieval_history == turn.retrievals
    assert found.metadata == {"askers": ["asker-1"], "module": None}
    assert found.turn_count == 1
    assert found.updated_at > state.updated_at


async def test_metadata_is_merged_key_by_key_and_a_summary_stays_until_there_is_a_new_one(
    desk: DeskWork,
) -> None:
    session = (await desk.open()).session_id
    first = replace(a_turn(session), metadata={"a": 1, "b": 1}, topic_summary="Limits.")
    await desk.exchange(turn=first)
    await desk.exchange(turn=replace(a_turn(session), metadata={"b": {"c": 2}}))
    state = await desk.open()
    assert state.metadata == {"a": 1, "b": {"c": 2}}
    assert state.topic_summary == "Limits."


async def test_a_summary_that_is_too_long_is_cut_and_never_locks_its_thread(desk: DeskWork) -> None:
    turn = replace(a_turn((await desk.open()).session_id), topic_summary="x" * 500)
    await desk.exchange(turn=turn)
    assert (await desk.open()).topic_summary == "x" * 200


async def test_the_hundred_newest_messages_are_live_and_the_older_ones_are_kept(
    desk: DeskWork,
) -> None:
    session = (await desk.open(max_turns=1000)).session_id
    for number in range(53):
        turn = a_turn(session, f"Question {number}?", f"Answer {number}.")
        await desk.exchange(turn=turn, max_turns=1000)
    state = await desk.open(max_turns=1000)
    assert len(state.messages) == 101
    assert state.messages[1].content == "Question 3?"
    assert state.messages[-1].content == "Answer 52."
    every = await desk.conversations.history(session)
    assert len(every) == 107
    assert (every[0].role, every[1].content) == (Role.SYSTEM, "Question 0?")


async def test_fewer_messages_are_loaded_where_fewer_are_asked_for(desk: DeskWork) -> None:
    session = (await desk.open()).session_id
    for number in range(5):
        await desk.exchange(turn=a_turn(session, f"Question {number}?", f"Answer {number}."))
    for wanted in (0, 1, 3, 4, 100):
        state = await desk.conversations.open(
            a_key(), model="scripted", max_turns=50, last_messages=wanted
        )
        assert len(state.messages) == 1 + min(wanted, 10)
        if wanted:
            assert state.messages[-1].content == "Answer 4."


async def test_a_session_that_has_had_its_turns_makes_way_for_one_with_its_summary(
    desk: DeskWork,
) -> None:
    first = await desk.open(max_turns=2)
    for text in ("One?", "Two?"):
        turn = replace(a_turn(first.session_id, text), topic_summary=f"Of {text}")
        await desk.exchange(turn=turn, max_turns=2)
    second = await desk.open(max_turns=2)
    assert second.session_id != first.session_id
    assert (second.session_number, second.turn_count) == (2, 0)
    assert second.topic_summary == "Of Two?"
    assert len(second.messages) == 1
    assert [turn[0].content for turn in second.turns] == ["One?", "Two?"], "it goes on from them"
    assert await desk.conversations.find(first.session_id) == second
    assert len(await desk.conversations.history(first.session_id)) == 5


async def test_however_short_a_session_was_the_next_one_knows_what_it_was_about(
    desk: DeskWork,
) -> None:
    for text in ("One?", "Two?", "Three?", "Four?"):
        session = await desk.open(max_turns=4)
        await desk.exchange(turn=a_turn(session.session_id, text), max_turns=4)
    fresh = await desk.open(max_turns=4)
    assert fresh.session_number == 2
    assert fresh.topic_summary == "Four?; Three?; Two?; One?"
    assert [turn[0].content for turn in fresh.turns] == ["Two?", "Three?", "Four?"]
    await desk.exchange(turn=a_turn(fresh.session_id, "Five?"), max_turns=4)
    again = await desk.conversations.find(session.session_id)
    assert again is not None
    assert [turn[0].content for turn in again.turns] == ["Two?", "Three?", "Four?", "Five?"]


async def test_a_summary_takes_the_place_of_the_one_that_it_was_made_for(desk: DeskWork) -> None:
    session = (await desk.open()).session_id
    turn = replace(a_turn(session, "One?"), topic_summary="One?")
    await desk.exchange(turn=turn)
    threads = desk.conversations
    assert not await threads.summarise(session, instead_of="Another?", summary="Counting")
    assert not await threads.summarise(uuid4(), instead_of="One?", summary="Counting")
    assert (await desk.open()).topic_summary == "One?"
    assert await threads.summarise(session, instead_of="One?", summary="Counting")
    state = await desk.open()
    assert (state.topic_summary, state.metadata[SUMMARISED]) == ("Counting", 1)
    assert not await threads.summarise(session, instead_of="", summary="Nothing")


async def test_an_earlier_session_stays_readable_under_its_own_id(desk: DeskWork) -> None:
    first = await desk.open(max_turns=1)
    await desk.exchange(turn=a_turn(first.session_id, "One?"), max_turns=1)
    second = await desk.open(max_turns=1)
    await desk.exchange(turn=a_turn(second.session_id, "Two?"), max_turns=1)
    await desk.open(max_turns=1)
    for session, text in ((first, "One?"), (second, "Two?")):
        read = await desk.conversations.read(session.session_id)
        assert read is not None
        assert read.session_id == session.session_id
        assert [m.content for m in read.messages if m.role is Role.USER] == [text]
    assert await desk.conversations.read(uuid4()) is None


async def test_a_session_id_that_nobody_has_starts_a_thread_with_that_id(desk: DeskWork) -> None:
    wanted = uuid4()
    state = await desk.conversations.open(a_key(), model="m", max_turns=50, session_id=wanted)
    assert state.session_id == wanted
    elsewhere = await desk.conversations.open(
        a_key("thread-2"), model="m", max_turns=50, session_id=wanted
    )
    assert elsewhere.session_id != wanted
    again = await desk.conversations.open(a_key(), model="m", max_turns=50, session_id=uuid4())
    assert again.session_id == wanted


async def test_an_unknown_session_is_not_found(desk: DeskWork) -> None:
    assert await desk.conversations.find(uuid4()) is None
    assert await desk.conversations.history(uuid4()) == ()


async def test_a_thread_follows_a_change_of_model(desk: DeskWork) -> None:
    before = await desk.open(model="small")
    after = await desk.open(model="large")
    assert (after.session_id, after.model) == (before.session_id, "large")


async def test_an_idle_thread_is_archived_and_a_new_message_resumes_it_with_its_history(
    desk: DeskWork,
) -> None:
    await desk.exchange("How many?")
    state = await desk.open()
    hour_from_now = datetime.now(UTC) + timedelta(hours=1)
    assert await desk.conversations.archive_idle(idle_since=state.updated_at) == 0
    assert await desk.conversations.archive_idle(idle_since=hour_from_now) == 1
    assert await desk.conversations.archive_idle(idle_since=hour_from_now) == 0
    archived = await desk.conversations.find(state.session_id)
    assert archived is not None
    assert archived.archived_at is not None
    assert archived.messages == state.messages
    resumed = await desk.open()
    assert resumed.archived_at is None
    assert (resumed.session_id, resumed.messages) == (state.session_id, state.messages)
    assert resumed.updated_at > state.updated_at


async def test_a_thread_with_a_question_waiting_is_not_idle(desk: DeskWork) -> None:
    await desk.open()
    await desk.accept()
    hour_from_now = datetime.now(UTC) + timedelta(hours=1)
    assert await desk.conversations.archive_idle(idle_since=hour_from_now) == 0


async def test_recent_threads_of_a_channel_come_last_used_first(desk: DeskWork) -> None:
    for thread in ("a", "b", "c"):
        await desk.exchange(key=a_key(thread))
    await desk.exchange(key=a_key("a"))
    await desk.open(replace(a_key("elsewhere"), channel_id="channel-2"))
    recent = await desk.conversations.recent(**CHANNEL, limit=2)
    assert [state.key.thread_id for state in recent] == ["a", "c"]
    assert [len(state.messages) for state in recent] == [1, 1]
    assert recent[0].turn_count == 2


async def test_a_deleted_thread_leaves_nothing_of_itself_and_all_of_the_others(
    desk: DeskWork, database: Database
) -> None:
    kept = await desk.exchange(key=a_key("kept"))
    response = a_response()
    gone = await desk.exchange(key=a_key("gone"), response=response)
    rate = Feedback(database).rate
    await rate(answer_id=response.answer_id, asker_id="asker-1", helpful=False, reason="No.")
    before = await rows_of(database)
    await desk.conversations.delete(a_key("gone"))
    after = await rows_of(database)
    of_threads = ("threads", "sessions", "turns", "questions", "answers", "citations", "parts")
    assert {name: before[name] for name in of_threads} == dict.fromkeys(of_threads, 2)
    assert {name: after[name] for name in of_threads} == dict.fromkeys(of_threads, 1)
    assert after["feedback"] == 0
    assert await desk.ledger.state_of(gone) is None
    assert await desk.ledger.response_to(kept) is not None
    await desk.conversations.delete(a_key("gone"))  # once more does no harm


async def test_threads_survive_closing(url: str) -> None:
    async with open_database(url) as database:
        await DeskWork(database).exchange("How many?")
    async with open_database(url) as database:
        state = await Conversations(database).open(a_key(), model="scripted", max_turns=50)
    assert [m.content for m in state.messages] == ["", "How many?", "Ten [1]."]


async def rows_of(database: Database) -> dict[str, int]:
    counts = {}
    for table in metadata.sorted_tables:
        counts[table.name] = len(await database.rows(Statement(table.select())))
    return counts
