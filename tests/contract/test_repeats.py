"""Questions asked before, in the database: found in their place alone, gone with their thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from sqlalchemy import select

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.books.book import BookIds
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.state import RetrievalRecord
from rag_core.desk.incoming import IncomingQuestion
from rag_core.insight.repeats import Repeats
from rag_core.storage import schema
from rag_core.storage.engines.engine import Database
from rag_core.storage.engines.statement import Statement
from rag_core.storage.forgetting import Forgetting
from rag_core.storage.repeats import RepeatRecords
from tests.builders import NOON, a_question, a_response, a_turn
from tests.contract.desk_work import DeskWork
from tests.fakes.embedder import WordEmbedder

PLACES = Statement(select(schema.repeats.c.place))
COURSE = BookIds(["course"])
SUMMER = "When does the reading room open in summer?"
AGAIN = "What time does the reading room open, summer?"


def everywhere(_: IncomingQuestion) -> bool:
    return True


class Asking:
    """Questions that are answered one after another, each in a thread of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.desk = DeskWork(database)
        self.threads = 0
        self.repeats = Repeats(
            store=RepeatRecords(database),
            meaning=WordEmbedder(),
            opens={Platform.SLACK: everywhere},
        )

    async def ask(
        self,
        text: str,
        *,
        tenant: str = "T1",
        channel: str = "C1",
        asker: str = "ann",
        books: BookIds = COURSE,
        outcome: Outcome = Outcome.COMPLETED,
        metadata: dict[str, str] | None = None,
        looked_up: Sequence[str] | None = None,
    ) -> tuple[UUID, AgentResponse]:
        self.threads += 1
        key = ConversationKey(
            platform=Platform.SLACK,
            tenant=TenantId(tenant),
            channel_id=channel,
            thread_id=f"{self.threads}.5",
        )
        question = a_question(text, key=key, message_id=f"{self.threads}.5", asker_id=asker)
        state = await self.desk.open(key)
        question_id = await self.desk.accept(question)
        await self.desk.claim()
        turn = replace(
            a_turn(state.session_id, text, "Yes."),
            retrievals=tuple(map(record, looked_up if looked_up is not None else [text])),
            metadata=metadata or {},
        )
        given = a_response(
            "Yes.", query=text, session_id=state.session_id, outcome=outcome, citations=()
        )
        response = await self.repeats.told(question_id, question, given, turn, books)
        await self.desk.settle(question_id, turn=turn, response=response)
        await self.desk.ledger.close(question_id, delivered=True)
        return question_id, response


def record(query: str) -> RetrievalRecord:
    return RetrievalRecord(
        tool_name="retrieve_documentation",
        query=query,
        results_count=1,
        avg_similarity=0.9,
        timestamp=NOON,
    )


def thread_of(response: AgentResponse | None) -> str | None:
    earlier = response.asked_before if response else None
    return earlier.key.thread_id if earlier else None


async def test_a_question_asked_again_leads_to_where_it_was_answered(database: Database) -> None:
    house = Asking(database)
    _, first = await house.ask(SUMMER)
    assert first.asked_before is None
    again, second = await house.ask(AGAIN, asker="ben", looked_up=[SUMMER])
    same, third = await house.ask(SUMMER.upper(), asker="eve")
    assert thread_of(second) == "1.5"
    assert thread_of(third) in {"1.5", "2.5"}
    for question, response in ((again, second), (same, third)):
        stored = await house.desk.ledger.response_to(question)
        assert stored is not None
        assert stored.asked_before == response.asked_before


async def test_another_place_book_or_question_is_not_led_anywhere(database: Database) -> None:
    house = Asking(database)
    await house.ask(SUMMER)
    for where in ({"channel": "C2"}, {"tenant": "T2"}, {"books": BookIds(["course", "staff"])}):
        assert (await house.ask(SUMMER, **where))[1].asked_before is None
    winter = await house.ask("When does the reading room open in winter?")
    assert winter[1].asked_before is None


async def test_only_answers_to_whole_questions_are_led_to(database: Database) -> None:
    house = Asking(database)
    await house.ask(SUMMER, outcome=Outcome.LOW_CONFIDENCE)
    await house.ask(SUMMER, metadata={"standalone": "And when in summer does it open?"})
    await house.ask(SUMMER, looked_up=[])
    assert (await house.ask(SUMMER))[1].asked_before is None


async def test_what_is_taken_back_or_forgotten_is_led_to_no_more(database: Database) -> None:
    house = Asking(database)
    await house.ask(SUMMER)
    later, told = await house.ask(SUMMER, asker="ben")
    assert thread_of(told) == "1.5"
    await Forgetting(database).person(platform=Platform.SLACK, asker_id="ann")
    assert thread_of(await house.desk.ledger.response_to(later)) is None
    assert thread_of((await house.ask(SUMMER))[1]) == "2.5"
    await Forgetting(database).tenant(platform=Platform.SLACK, tenant=TenantId("T1"))
    assert (await house.ask(SUMMER))[1].asked_before is None


async def test_no_word_of_a_question_is_kept_to_know_it_again(database: Database) -> None:
    house = Asking(database)
    question, _ = await house.ask("Where does Quetzalcoatl read?")
    store = RepeatRecords(database)
    key = await store.key()
    assert key == await RepeatRecords(database).key()
    (known,) = [
        candidate
        for place in await places_in(database)
        for candidate in await store.answered_in(place, besides=UUID(int=0))
    ]
    assert known.question_id == str(question)
    assert "quetzalcoatl" not in f"{known.digest} {await places_in(database)}".lower()
    assert "C1" not in " ".join(await places_in(database))


async def places_in(database: Database) -> list[str]:
    return [row["place"] for row in await database.rows(PLACES)]
