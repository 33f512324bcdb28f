"""Who is forgotten leaves no word and no name on the disk; repeats are no questions any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from rag_core.conversation.context import ContextItem, ContextKind
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import Question
from rag_core.storage.engines.database import Database
from rag_core.storage.feedback import Feedback
from rag_core.storage.forgetting import Forgetting
from rag_core.storage.markers import Markers
from tests.builders import a_key, a_question, a_response, a_turn
from tests.contract.desk_work import DeskWork

SECRET = "Grandmother Hedwig's 1931 recipe"


@pytest.fixture
def desk(database: Database) -> DeskWork:
    return DeskWork(database)


@pytest.fixture
def forgetting(database: Database) -> Forgetting:
    return Forgetting(database)


def key_of(thread: str, *, tenant: str = "guild-1") -> ConversationKey:
    return ConversationKey(
        platform=Platform.SLACK, tenant=TenantId(tenant), channel_id="c", thread_id=thread
    )


async def asked(
    desk: DeskWork, text: str, *, key: ConversationKey, asker: str, message: str | None = None
) -> str:
    """One answered question; its session's id."""
    state = await desk.open(key)
    question = a_question(text, key=key, asker_id=asker, message_id=message or uuid4().hex)
    question_id = await desk.accept(question)
    await desk.claim()
    turn = replace(
        a_turn(state.session_id, text, f"About {text} [1]."),
        topic_summary=text[:100],
        metadata={"title": text, "last_asker_id": asker, "standalone": text, "module": "m1"},
    )
    response = a_response(f"About {text} [1].", query=text, session_id=state.session_id)
    await desk.settle(question_id, turn=turn, response=response)
    await Feedback(desk.database).rate(
        answer_id=response.answer_id, asker_id=asker, helpful=True, reason=text
    )
    await desk.ledger.close(question_id, delivered=True)
    return str(state.session_id)


def bytes_below(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


def is_anywhere(folder: Path, word: str) -> bool:
    return any(word.encode() in content for content in bytes_below(folder))


async def test_a_forgotten_person_is_gone_and_others_stay(
    desk: DeskWork, forgetting: Forgetting, engine: str, tmp_path: Path
) -> None:
    shared = key_of("shared")
    await asked(desk, "What is due?", key=shared, asker="U-OTHER")
    await asked(desk, SECRET, key=shared, asker="U-FORGET-ME")
    own = await asked(desk, SECRET, key=key_of("own"), asker="U-FORGET-ME")
    assert await forgetting.person(platform=Platform.SLACK, asker_id="U-FORGET-ME") == 2
    state = await desk.open(shared)
    assert [message.content for message in state.messages[1:]] == [
        "What is due?",
        "About What is due? [1].",
    ]
    assert (state.turn_count, state.topic_summary) == (1, "")
    assert state.metadata == {"module": "m1"}
    assert [each.message for each in await desk.ledger.asked_in(shared)] == ["What is due?"]
    if engine == "sqlite":
        for word in (SECRET, "U-FORGET-ME", own):
            assert not is_anywhere(tmp_path, word), word
        assert is_anywhere(tmp_path, "What is due?")


async def test_markers_about_a_forgotten_person_are_gone(
    desk: DeskWork, forgetting: Forgetting, engine: str, tmp_path: Path
) -> None:
    markers = Markers(desk.database)
    shared, own = key_of("shared"), key_of("own")
    await asked(desk, "What is due?", key=shared, asker="U-OTHER", message="m-other")
    await asked(desk, SECRET, key=shared, asker="U-FORGET-ME", message="m-shared")
    await asked(desk, SECRET, key=own, asker="U-FORGET-ME", message="m-own")
    (answer_id,) = [
        str(each.response.answer_id) for each in await desk.ledger.asked_in(own) if each.response
    ]
    gone = [
        "reader:slack:guild-1:U-FORGET-ME",
        "reader:slack:guild-2:U-FORGET-ME",
        "slack:draft:guild-1:c:m-own",
        "slack:draft:guild-1:c:m-shared",
        f"answered:{own}",
        f"called:{answer_id}",
        f"slack:shared:{answer_id}",
    ]
    stay = [
        "reader:slack:guild-1:U-OTHER",
        "reader:slack:guild-1:X-U-FORGET-ME",
        "reader:discord:guild-1:U-FORGET-ME",
        "slack:draft:guild-1:c:m-other",
        f"answered:{shared}",
        "slack:heard:guild-1",
    ]
    for name in (*gone, *stay):
        await markers.set(name, "{}")
    await forgetting.person(platform=Platform.SLACK, asker_id="U-FORGET-ME")
    assert [name for name in gone if await markers.get(name) is not None] == []
    assert [name for name in stay if await markers.get(name) is None] == []
    await forgetting.person(platform=Platform.DISCORD, asker_id="U-FORGET-ME")
    await forgetting.person(platform=Platform.SLACK, asker_id="X-U-FORGET-ME")
    if engine == "sqlite":
        for word in ("U-FORGET-ME", "m-own", "m-shared", answer_id):
            assert not is_anywhere(tmp_path, word), word


async def test_profiles_in_a_forgotten_server_are_gone(
    desk: DeskWork, forgetting: Forgetting
) -> None:
    markers = Markers(desk.database)
    for tenant in ("guild-1", "guild-2"):
        await markers.set(f"reader:slack:{tenant}:U1", "{}")
    await forgetting.tenant(platform=Platform.SLACK, tenant=TenantId("guild-1"))
    assert await markers.get("reader:slack:guild-1:U1") is None
    assert await markers.get("reader:slack:guild-2:U1") == "{}"


async def test_a_repeat_of_a_forgotten_message_is_no_question(
    desk: DeskWork, forgetting: Forgetting
) -> None:
    key = key_of("a")
    await asked(desk, SECRET, key=key, asker="U1", message="m-1")
    await forgetting.person(platform=Platform.SLACK, asker_id="U1")
    again = await desk.ledger.accept(a_question(SECRET, key=key, message_id="m-1", asker_id="U1"))
    assert again.repeated
    assert await desk.ledger.waiting() == 0
    fresh = a_question("And now?", key=key, message_id="m-2", asker_id="U1")
    assert not (await desk.ledger.accept(fresh)).repeated


async def test_a_repeat_of_a_deleted_threads_message_is_no_question(
    desk: DeskWork, engine: str, tmp_path: Path
) -> None:
    session = await asked(desk, SECRET, key=a_key(), asker="U1", message="m-very-own-id")
    await desk.conversations.delete(a_key())
    if engine == "sqlite":
        for word in (SECRET, session, "m-very-own-id"):
            assert not is_anywhere(tmp_path, word), word
    again = a_question(SECRET, message_id="m-very-own-id", asker_id="U1")
    assert (await desk.ledger.accept(again)).repeated
    assert await desk.ledger.waiting() == 0


async def test_an_open_question_of_a_forgotten_person_is_never_answered(
    desk: DeskWork, forgetting: Forgetting
) -> None:
    key = key_of("a")
    await desk.accept(a_question(SECRET, key=key, asker_id="U1", position="1"))
    await desk.accept(a_question("Mine?", key=key, asker_id="U2", position="2"))
    held = await desk.claim()
    await forgetting.person(platform=Platform.SLACK, asker_id="U1")
    assert (await desk.claim("other")).question.asker_id == "U2"
    assert held.question.asker_id == "U1"


async def test_a_forgotten_server_is_gone(desk: DeskWork, forgetting: Forgetting) -> None:
    await asked(desk, SECRET, key=key_of("a"), asker="U1")
    await desk.open(key_of("empty"))
    await asked(desk, "Elsewhere?", key=key_of("a", tenant="guild-2"), asker="U1")
    slack = Platform.SLACK
    assert await forgetting.tenant(platform=slack, tenant=TenantId("guild-1")) == 1
    listed = [
        await desk.conversations.recent(
            platform=slack, tenant=TenantId(tenant), channel_id="c", limit=9
        )
        for tenant in ("guild-1", "guild-2")
    ]
    assert [len(threads) for threads in listed] == [0, 1]


async def test_what_may_no_longer_be_kept_is_forgotten(
    desk: DeskWork, forgetting: Forgetting
) -> None:
    await asked(desk, SECRET, key=key_of("a"), asker="U1")
    await desk.accept(a_question("Open?", key=key_of("b"), asker_id="U1"))
    now = datetime.now(UTC)
    assert await forgetting.older_than(now - timedelta(days=1)) == 0
    assert await forgetting.older_than(now + timedelta(days=1)) == 1, "what is open is kept"


async def test_what_a_person_said_is_taken_out_of_the_questions_of_others(
    desk: DeskWork, forgetting: Forgetting, tmp_path: Path
) -> None:
    said = (
        ContextItem(kind=ContextKind.THREAD, author="U_HEDWIG", text=SECRET),
        ContextItem(kind=ContextKind.THREAD, author="U2HEDWIG", text="I like it."),
    )
    asking = Question(message="How does one bake it?", context=said)
    question = a_question(key=key_of("t1"), asker_id="U2", question=asking)
    other = a_question(key=key_of("t2"), asker_id="U2", question=asking, message_id="2")
    for each in (question, other):
        await desk.accept(each)
    await forgetting.person(platform=Platform.SLACK, asker_id="U_HEDWIG")
    for _ in range(2):
        kept = (await desk.claim()).question.question
        assert kept.message == "How does one bake it?"
        assert kept.context == said[1:]
    assert not is_anywhere(tmp_path, SECRET)
