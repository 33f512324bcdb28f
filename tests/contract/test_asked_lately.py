"""What was asked lately is found by its time, on one platform, without what was taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.lately import AskedLately
from tests.builders import a_question
from tests.contract.desk_work import DeskWork


async def test_the_newest_come_first_and_what_was_taken_back_is_left_out(
    database: Database,
) -> None:
    desk, lately = DeskWork(database), AskedLately(database)
    begun = datetime.now(UTC) - timedelta(seconds=1)
    for number, platform in enumerate(
        [Platform.SLACK, Platform.DISCORD, Platform.SLACK, Platform.SLACK]
    ):
        key = ConversationKey(
            platform=platform, tenant=TenantId("t"), channel_id="c", thread_id=str(number)
        )
        await desk.open(key)
        await desk.accept(a_question(f"Number {number}?", key=key, message_id=str(number)))
    taken_back = a_question("Number 2?", key=key, message_id="2").identity
    await desk.ledger.withdraw(taken_back)
    found = await lately.since(begun, platform=Platform.SLACK, limit=10)
    assert [question.message_id for question in found] == ["3", "0"]
    [newest] = await lately.since(begun, platform=Platform.SLACK, limit=1)
    assert newest.message_id == "3"
    after = datetime.now(UTC) + timedelta(seconds=60)
    assert not await lately.since(after, platform=Platform.SLACK, limit=10)
