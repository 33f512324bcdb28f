"""Gaps in the database: what counts as asked in vain, and what a deletion takes away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from rag_core.agent.answer import Outcome, Suggestion
from rag_core.conversation.key import Platform
from rag_core.conversation.state import RetrievalRecord
from rag_core.insight.gap import Gap, GapState
from rag_core.insight.gaps import Gaps
from rag_core.storage.engines.engine import Database
from rag_core.storage.feedback import Feedback
from rag_core.storage.forgetting import Forgetting
from rag_core.storage.gaps import GapRecords
from tests.builders import NOON, a_key, a_question, a_response, a_turn
from tests.contract.desk_work import DeskWork
from tests.fakes.embedder import WordEmbedder

DOGS = ("May I bring my dog to the office?", "Are dogs allowed in the office?", "dog office rules")
PARKING = ("Where is the parking garage?", "How do I book a parking garage space?")


class Asking:
    """Questions with their answers in the database, and the gaps that come of them."""

    def __init__(self, database: Database) -> None:
        self.desk = DeskWork(database)
        self.feedback = Feedback(database)
        self._database = database
        self.embed_with(WordEmbedder())

    def embed_with(self, embedder: WordEmbedder) -> None:
        self.gaps = Gaps(store=GapRecords(self._database), embedder=embedder)

    async def ask(
        self, text: str, outcome: Outcome = Outcome.NO_RESULTS, *, thread: str = "", **more: Any
    ) -> UUID:
        key = more.pop("key", None) or a_key(thread or uuid4().hex)
        asker = more.pop("asker", "asker-1")
        state = await self.desk.open(key)
        response = a_response(
            "The documents do not cover this.",
            query=text,
            outcome=outcome,
            citations=(),
            session_id=state.session_id,
            **{"retrieval_count": 1, **more},
        )
        question = await self.desk.accept(a_question(text, key=key, asker_id=asker))
        await self.desk.claim()
        turn = a_turn(state.session_id, text, "The documents do not cover this.")
        await self.desk.settle(question, turn=turn, response=response)
        await self.desk.ledger.close(question, delivered=True)
        return response.answer_id

    async def found(self, **where: Any) -> Sequence[Gap]:
        await self.gaps.refresh()
        return await self.gaps.listed(**where)


async def test_questions_in_vain_are_told_by_topic_the_most_asked_first(
    database: Database,
) -> None:
    house = Asking(database)
    near = Suggestion(page_title="House rules", section_heading="Visitors", page_url=None)
    for text in DOGS:
        await house.ask(text, suggestions=(near,))
    for text in PARKING:
        await house.ask(text, Outcome.LOW_CONFIDENCE)
    await house.ask("How many days off?", Outcome.COMPLETED)
    await house.ask("The printer is broken", Outcome.ERROR)
    await house.ask("?", retrieval_count=0)
    dogs, parking = await house.found()
    assert (dogs.count, parking.count) == (3, 2)
    assert {dogs.example, *dogs.examples} == set(DOGS)
    assert dogs.nearest == near
    assert parking.nearest is None
    assert dogs.state is GapState.OPEN
    assert dogs.platforms == ("web",)
    assert dogs.first_asked_at <= dogs.last_asked_at
    assert await house.found(limit=1) == [dogs]


async def test_an_answer_that_did_not_help_is_a_gap_until_its_asker_thinks_otherwise(
    database: Database,
) -> None:
    house = Asking(database)
    answer = await house.ask("How many days off?", Outcome.COMPLETED)
    low = await house.ask("Where is the parking garage?", Outcome.LOW_CONFIDENCE)
    await house.feedback.rate(answer_id=answer, asker_id="a", helpful=False, reason="half a page")
    await house.feedback.rate(answer_id=low, asker_id="a", helpful=True)
    (gap,) = await house.found()
    assert gap.example == "How many days off?"
    await house.feedback.rate(answer_id=answer, asker_id="a", helpful=True)
    assert await house.found() == []


async def test_a_follow_up_is_told_as_it_was_understood(database: Database) -> None:
    house = Asking(database)
    key = a_key("thread-1")
    state = await house.desk.open(key)
    question = await house.desk.accept(a_question("And in winter?", key=key))
    await house.desk.claim()
    record = RetrievalRecord(
        tool_name="retrieve_documentation",
        query="When does the reading room open in winter?",
        results_count=0,
        avg_similarity=0.0,
        timestamp=NOON,
    )
    response = a_response(
        "No.", query="And in winter?", outcome=Outcome.NO_RESULTS, citations=(), retrieval_count=1
    )
    turn = replace(a_turn(state.session_id, "And in winter?", "No."), retrievals=(record,))
    await house.desk.settle(question, turn=turn, response=response)
    (gap,) = await house.found()
    assert gap.example == "When does the reading room open in winter?"


async def test_what_somebody_judged_keeps_its_name_and_is_open_when_it_is_asked_again(
    database: Database,
) -> None:
    house = Asking(database)
    for text in DOGS:
        await house.ask(text)
    (gap,) = await house.found()
    assert await house.gaps.set_state(gap.gap_id, GapState.ANSWERED)
    assert [g.state for g in await house.found()] == [GapState.ANSWERED]
    assert await house.found(states=(GapState.OPEN,)) == []
    await house.ask("Is a dog allowed in the office?", created_at=datetime.now(UTC))
    (again,) = await house.found()
    assert (again.gap_id, again.state, again.count) == (gap.gap_id, GapState.OPEN, 4)
    assert not await house.gaps.set_state(uuid4(), GapState.PLANNED)


async def test_two_judged_gaps_stay_two(database: Database) -> None:
    house = Asking(database)
    for text in (*DOGS, *PARKING):
        await house.ask(text)
    first, second = await house.found()
    await house.gaps.set_state(first.gap_id, GapState.PLANNED)
    await house.gaps.set_state(second.gap_id, GapState.PLANNED)
    for _ in range(3):
        await house.ask("Is the parking garage of the office open to dogs?")
    kept = {gap.gap_id: gap.state for gap in await house.found()}
    assert kept.keys() >= {first.gap_id, second.gap_id}
    assert kept[first.gap_id] is kept[second.gap_id] is GapState.PLANNED


async def test_a_deleted_thread_is_gone_from_the_gaps_at_once(database: Database) -> None:
    house = Asking(database)
    for number, text in enumerate(DOGS):
        await house.ask(text, thread=f"thread-{number}")
    assert [gap.count for gap in await house.found()] == [3]
    await house.desk.conversations.delete(a_key("thread-1"))
    (gap,) = await house.gaps.listed()
    assert gap.count == 2
    assert DOGS[1] not in {gap.example, *gap.examples}
    for number in (0, 2):
        await house.desk.conversations.delete(a_key(f"thread-{number}"))
    assert await house.gaps.listed() == []


async def test_who_is_forgotten_is_gone_from_the_gaps_too(database: Database) -> None:
    house = Asking(database)
    for text, asker in zip(DOGS, ("ann", "ann", "ben"), strict=True):
        await house.ask(text, asker=asker)
    (gap,) = await house.found()
    await house.gaps.set_state(gap.gap_id, GapState.PLANNED)
    await Forgetting(database).person(platform=Platform.WEB, asker_id="ann")
    (left,) = await house.gaps.listed()
    assert (left.gap_id, left.count, left.state) == (gap.gap_id, 1, GapState.PLANNED)
    assert (left.example, left.examples) == (DOGS[2], ())
    await Forgetting(database).person(platform=Platform.WEB, asker_id="ben")
    assert await house.gaps.listed() == []


async def test_each_server_sees_its_own(database: Database) -> None:
    house = Asking(database)
    await house.ask(DOGS[0])
    await house.ask(DOGS[1], key=a_key("t", Platform.SLACK))
    (slack,) = await house.found(platform=Platform.SLACK, tenant=a_key().tenant)
    assert (slack.count, slack.example, slack.platforms) == (1, DOGS[1], ("slack",))
    assert await house.found(platform=Platform.DISCORD) == []


async def test_a_house_without_questions_has_no_gaps(database: Database) -> None:
    assert await Asking(database).found() == []


async def test_gaps_outlast_a_change_of_the_embedding_model(database: Database) -> None:
    house = Asking(database)
    for text in (*DOGS, *PARKING):
        await house.ask(text)
    before = {gap.gap_id: gap.count for gap in await house.found()}
    other = WordEmbedder(dimension=48, model="words-48")
    house.embed_with(other)
    await house.ask("Can a dog come to the office?")
    after = {gap.gap_id: gap.count for gap in await house.found()}
    assert sorted(after.values()) == [2, 4]
    assert after.keys() == before.keys()
    assert set(DOGS) < set(other.embedded)
    other.embedded.clear()
    await house.ask("Is there a parking garage?")
    await house.found()
    assert not {*DOGS, *PARKING} & set(other.embedded)
