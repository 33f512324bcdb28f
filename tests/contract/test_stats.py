"""The numbers: counted from what is stored, by day, platform and channel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from rag_core.agent.answer import Outcome
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.storage.engines.engine import Database
from rag_core.storage.feedback import Feedback
from rag_core.storage.stats import StatsRecords, percentile
from tests.builders import a_key, a_question, a_response
from tests.contract.desk_work import DeskWork

SLACK = ConversationKey(
    platform=Platform.SLACK, tenant=TenantId("T1"), channel_id="C1", thread_id="1"
)


async def answered(database: Database, outcome: Outcome, **where: Any) -> UUID:
    desk = DeskWork(database)
    question = await desk.accept(a_question(**where))
    await desk.claim()
    response = a_response(outcome=outcome, citations=())
    await desk.settle(question, response=response)
    await desk.ledger.close(question, delivered=True)
    return response.answer_id


async def test_questions_are_counted_by_what_became_of_them(database: Database) -> None:
    first = await answered(database, Outcome.COMPLETED)
    await answered(database, Outcome.COMPLETED, key=SLACK)
    await answered(database, Outcome.NO_RESULTS, key=SLACK)
    await DeskWork(database).accept(a_question(key=a_key("waiting")))
    await Feedback(database).rate(answer_id=first, asker_id="a", helpful=True)
    await Feedback(database).rate(answer_id=first, asker_id="b", helpful=False)
    stats = await StatsRecords(database).last_days(7)
    assert stats.total.questions == 4
    assert stats.total.outcomes == {"completed": 2, "no_results": 1}
    assert stats.total.shares["completed"] == pytest.approx(2 / 3)
    assert stats.total.helpful_rate == 0.5
    assert [(each.day, each.tally.questions) for each in stats.days][-1] == (
        datetime.now(UTC).date(),
        4,
    )
    assert len(stats.days) == 7
    assert {name: tally.questions for name, tally in stats.platforms.items()} == {
        "slack": 2,
        "web": 2,
    }
    assert stats.platforms["slack"].helpful_rate is None
    assert stats.waiting.p50 is not None
    assert stats.waiting.p95 is not None
    assert 0 <= stats.waiting.p50 <= stats.waiting.p95


async def test_persons_are_not_told_apart(database: Database) -> None:
    await answered(database, Outcome.COMPLETED, key=a_key())
    other = ConversationKey(
        platform=Platform.WEB, tenant=a_key().tenant, channel_id="another", thread_id="2"
    )
    await answered(database, Outcome.COMPLETED, key=other)
    await answered(database, Outcome.COMPLETED, key=SLACK)
    stats = await StatsRecords(database).last_days(1)
    assert [(c.platform, c.channel_id, c.tally.questions) for c in stats.channels] == [
        ("web", "", 2),
        ("slack", "C1", 1),
    ]


async def test_what_lies_before_the_stretch_is_not_counted(database: Database) -> None:
    await answered(database, Outcome.COMPLETED)
    later = StatsRecords(database, now=lambda: datetime.now(UTC) + timedelta(days=8))
    stats = await later.last_days(7)
    assert stats.total.questions == 0
    assert stats.waiting.p50 is None
    assert stats.channels == ()
    assert [each.tally.questions for each in stats.days] == [0] * 7
    assert (await later.last_days(9)).total.questions == 1


def test_percentiles_are_values_that_were_there() -> None:
    assert percentile([1.0], 0.95) == 1.0
    assert percentile([1.0, 2.0], 0.5) == 1.0
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95.0
