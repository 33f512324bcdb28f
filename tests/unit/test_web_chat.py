"""Asking over HTTP: one answer, whatever becomes of the way it takes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.web.documents.answer_schema import AgentResponseModel
from rag_core.agent.answer import AgentResponse
from rag_core.conversation.context import ContextItem, ContextKind
from rag_core.conversation.key import Platform
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import StorageError
from tests.fakes.web_house import House, MemoryIndex, plain_answer
from tests.fakes.web_values import START, a_refusal, a_response, a_result, an_error
from tests.fakes.web_visit import a_config, at_the_private_door, events_of, visiting, with_keys

ASK = {"message": "How often may a key ask?"}


async def test_a_question_is_answered_with_the_whole_document() -> None:
    async with visiting(House()) as client:
        answer = await client.post("/chat/run", json=ASK)
    assert answer.status_code == 200
    document = AgentResponseModel.model_validate(answer.json())
    assert document.query == ASK["message"]
    assert document.citations[0].quote == "at most 100 requests in any 60 seconds"
    assert document.session_id.version == 4


async def test_the_stream_tells_each_stage_once_and_ends_with_the_answer() -> None:
    async with visiting(House()) as client:
        streamed = await client.post("/chat/stream", json=ASK)
    assert streamed.headers["content-type"].startswith("text/event-stream")
    events = events_of(streamed.text)
    stages = [event.data["state"] for event in events if event.name == "stage"]
    assert stages == ["PENDING", "RETRIEVING", "GENERATING"]
    assert "".join(e.data["delta"] for e in events if e.name == "text") == (
        "A key may send 100 requests [1]."
    )
    assert [event.name for event in events].count("final") == 1
    AgentResponseModel.model_validate(events[-1].data)
    assert len({event.id for event in events}) == len(events)


async def test_what_came_with_a_question_is_handed_in_beside_it() -> None:
    house = House()
    said = {"kind": "thread", "author": "Ann", "text": "Is it a hundred?"}
    log = {"kind": "paste", "text": "é" * 19_000}
    async with visiting(house) as client:
        for route in ("/chat/run", "/chat/stream"):
            answer = await client.post(route, json=ASK | {"context": [said, log]})
            assert answer.status_code == 200
    questions = [entry.question.question for entry in house.ledger.entries.values()]
    assert len(questions) == 2
    for question in questions:
        assert question.message == ASK["message"]
        assert question.context == (
            ContextItem(kind=ContextKind.THREAD, author="Ann", text="Is it a hundred?"),
            ContextItem(kind=ContextKind.PASTE, text="é" * 19_000),
        )


async def test_at_the_private_door_a_long_message_is_split_and_over_http_it_is_refused() -> None:
    house = House()
    body = {"message": f"Why does it stop?\n\n{'a line of a log' * 100}"}
    async with at_the_private_door(house) as client:
        assert (await client.post("/chat/run", json=body)).status_code == 200
    [entry] = house.ledger.entries.values()
    assert entry.question.question.message == "Why does it stop?"
    assert entry.question.question.context[0].kind is ContextKind.PASTE
    async with visiting(house) as client:
        assert (await client.post("/chat/run", json=body)).status_code == 422


async def test_run_streams_when_it_is_asked_to() -> None:
    async with visiting(House()) as client:
        streamed = await client.post("/chat/run", json=ASK | {"stream": True})
    assert events_of(streamed.text)[-1].name == "final"


async def test_a_stream_that_is_null_is_like_none() -> None:
    async with visiting(House()) as client:
        answered = await client.post("/chat/run", json=ASK | {"stream": None})
    assert answered.status_code == 200
    assert answered.json()["outcome"] == "completed"


async def test_stages_never_go_back_when_a_question_is_tried_again() -> None:
    async def twice(question: IncomingQuestion, progress: Progress) -> AgentResponse:
        await progress.stage(QuestionState.GENERATING)
        await progress.text("lost words")
        await progress.stage(QuestionState.RETRIEVING)
        await progress.stage(QuestionState.GENERATING, "again")
        await progress.text("A key ", restart=True)
        return a_response(question)

    async with visiting(House(answerer=twice)) as client:
        events = events_of((await client.post("/chat/stream", json=ASK)).text)
    assert [e.data["state"] for e in events if e.name == "stage"] == ["PENDING", "GENERATING"]
    assert [e.data["restart"] for e in events if e.name == "text"] == [False, True]


@pytest.mark.parametrize(("made", "outcome"), [(a_refusal, "no_results"), (an_error, "error")])
async def test_a_refusal_and_a_failed_question_are_answers_too(made: Any, outcome: str) -> None:
    async def answer(question: IncomingQuestion, progress: Progress) -> AgentResponse:
        response: AgentResponse = made(question)
        return response

    async with visiting(House(answerer=answer)) as client:
        answered = await client.post("/chat/run", json=ASK)
    assert answered.status_code == 200
    document = AgentResponseModel.model_validate(answered.json())
    assert document.outcome == outcome
    assert not document.should_answer


async def test_a_question_that_was_not_accepted_is_503_and_says_when_to_come_back() -> None:
    house = House()
    house.ledger.broken = True
    async with visiting(house) as client:
        answers = [await client.post(path, json=ASK) for path in ("/chat/run", "/chat/stream")]
    for answer in answers:
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert answer.headers["content-type"] == "application/problem+json"
        assert "secret" not in answer.text


async def test_an_answer_that_another_process_gave_is_found_in_the_database() -> None:
    async with visiting(House(elsewhere=True)) as client:
        events = events_of((await client.post("/chat/stream", json=ASK)).text)
    assert events[-1].name == "final"


async def test_a_lost_stream_goes_on_where_it_was_cut() -> None:
    async with visiting(House()) as client:
        events = events_of((await client.post("/chat/stream", json=ASK)).text)
        resumed = await client.post(
            "/chat/stream", json=ASK, headers={"Last-Event-ID": events[2].id}
        )
    assert [event.id for event in events_of(resumed.text)] == [e.id for e in events[3:]]


async def test_a_stream_that_is_taken_up_asks_nothing_twice() -> None:
    house = House()
    async with visiting(house) as client:
        events = events_of((await client.post("/chat/stream", json=ASK)).text)
        for event in events:
            again = await client.post("/chat/stream", json=ASK, headers={"Last-Event-ID": event.id})
            assert events_of(again.text)[-1].data == events[-1].data
    assert len(house.ledger.entries) == 1


async def test_after_a_restart_the_stream_gives_the_answer_from_the_database() -> None:
    before = House()
    async with visiting(before) as client:
        events = events_of((await client.post("/chat/stream", json=ASK)).text)
    after = House(ledger=before.ledger, conversations=before.conversations, works=False)
    async with visiting(after) as client:
        resumed = await client.post(
            "/chat/stream", json=ASK, headers={"Last-Event-ID": events[3].id}
        )
    assert events_of(resumed.text)[-1].data == events[-1].data


async def test_an_event_id_of_another_caller_hears_nothing_of_theirs() -> None:
    house, config = House(), with_keys()
    async with visiting(house, config, key="ask-key-1") as first:
        theirs = events_of((await first.post("/chat/stream", json=ASK)).text)
    async with visiting(house, config, key="ask-key-2") as second:
        mine = await second.post(
            "/chat/stream",
            json={"message": "Something else?"},
            headers={"Last-Event-ID": theirs[0].id},
        )
    final = events_of(mine.text)[-1].data
    assert final["query"] == "Something else?"
    assert final["answer_id"] != theirs[-1].data["answer_id"]


async def test_a_follow_up_stays_in_its_thread_under_old_and_new_session_ids() -> None:
    house = House()
    async with visiting(house) as client:
        first = (await client.post("/chat/run", json=ASK)).json()["session_id"]
        (key,) = house.conversations.states
        second = str(house.conversations.start_session(key))
        answers = [
            await client.post("/chat/run", json=ASK | {"session_id": session})
            for session in (first, second)
        ]
    assert [answer.json()["session_id"] for answer in answers] == [second, second]
    assert list(house.conversations.states) == [key]


async def test_an_earlier_session_can_still_be_read() -> None:
    house = House()
    async with visiting(house) as client:
        first = (await client.post("/chat/run", json=ASK)).json()["session_id"]
        before = (await client.get(f"/threads/{first}")).json()
        (key,) = house.conversations.states
        second = str(house.conversations.start_session(key))
        await client.post("/chat/run", json={"message": "And now?", "session_id": second})
        earlier = (await client.get(f"/threads/{first}")).json()
        now = (await client.get(f"/threads/{second}")).json()
    assert earlier["session_id"] == first
    assert earlier["messages"] == before["messages"]
    assert now["session_id"] == second
    assert "And now?" in [message["content"] for message in now["messages"]]


async def test_a_session_that_nobody_has_begins_a_thread_with_that_id() -> None:
    wanted = str(uuid4())
    async with visiting(House()) as client:
        answer = await client.post("/chat/run", json=ASK | {"session_id": wanted})
        thread = await client.get(f"/threads/{wanted}")
    assert answer.json()["session_id"] == wanted
    assert thread.json()["key"]["thread_id"] == wanted


async def test_what_was_asked_reaches_the_desk_as_it_was_meant() -> None:
    house = House()
    body = ASK | {
        "top_k": 7,
        "similarity_threshold": 0.25,
        "book_ids": ["staff"],
        "module": "staff-module",
        "chapter_min": 1,
        "chapter_max": 4,
        "proficiency_levels": ["A1", "B2"],
        "layer": "L2",
        "lesson": None,
    }
    async with visiting(house) as client:
        answer = await client.post("/chat/run", json=body, headers={"Accept-Language": "de-CH,en"})
    assert answer.status_code == 200
    (entry,) = house.ledger.entries.values()
    asked = entry.question
    assert asked.key.platform is Platform.WEB
    assert asked.books is not None
    assert list(asked.books) == ["staff"]
    assert (asked.question.top_k, asked.question.similarity_threshold) == (7, 0.25)
    assert asked.question.filters.applied() == {
        "module": "staff-module",
        "chapter_min": 1,
        "chapter_max": 4,
        "proficiency_levels": ("A1", "B2"),
        "layer": "L2",
    }
    assert asked.locale == "de"


async def test_the_private_door_asks_as_the_command_line() -> None:
    house = House()
    async with at_the_private_door(house) as client:
        answer = await client.post("/chat/run", json=ASK)
        page = await client.get("/")
    assert answer.status_code == 200
    assert page.status_code == 404
    (key,) = house.conversations.states
    assert key.platform is Platform.CLI


async def test_an_answer_that_takes_too_long_for_the_request_says_where_it_will_be() -> None:
    house = House(works=False)
    async with visiting(house, a_config(wait_seconds=0.05)) as client:
        waited = await client.post("/chat/run", json=ASK)
        streamed = await client.post("/chat/stream", json=ASK)
    assert waited.status_code == 504
    event = events_of(streamed.text)[-1]
    assert event.name == "error"
    assert event.data["status"] == 504


async def test_a_database_that_fails_while_waiting_costs_nothing() -> None:
    house = House(works=False)

    async def failing(question_id: UUID) -> QuestionState | None:
        nonlocal failures
        failures += 1
        if failures < 3:
            raise StorageError("busy")
        tried.set()
        return await found(question_id)

    failures, found, tried = 0, house.ledger.state_of, asyncio.Event()
    house.ledger.state_of = failing  # type: ignore[method-assign]
    async with visiting(house) as client:
        asking = asyncio.create_task(client.post("/chat/run", json=ASK))
        await tried.wait()
        house.elsewhere = True
        await house.work()
        assert (await asking).status_code == 200


async def test_a_defect_on_the_way_ends_the_stream_with_one_plain_problem() -> None:
    house = House(works=False)

    async def broken(question_id: UUID) -> QuestionState | None:
        raise RuntimeError("at /secret/place")

    house.ledger.state_of = broken  # type: ignore[method-assign]
    async with visiting(house) as client:
        events = events_of((await client.post("/chat/stream", json=ASK)).text)
        answer = await client.post("/chat/run", json=ASK)
    assert [event.name for event in events] == ["stage", "error"]
    assert events[-1].data["status"] == 500
    assert answer.status_code == 500
    assert "secret" not in answer.text + str(events)


async def test_hundreds_of_finished_questions_leave_a_bounded_memory() -> None:
    house = House()
    async with visiting(house) as client:
        for _ in range(260):
            await client.post("/chat/run", json=ASK)
    assert house.replies.remembered <= 200


async def test_modules_that_are_not_released_are_named_nowhere() -> None:
    later = {"released_at": START + timedelta(days=1)}
    index = MemoryIndex(a_result(), a_result(parent="later", module="exam", metadata=later))
    async with visiting(House(answerer=plain_answer, index=index)) as client:
        page = (await client.get("/")).text
        told = [
            (await client.post(door, json=body | {"module": module})).json()["errors"][0]["allowed"]
            for module in ("exam", "nowhere")
            for door, body in (("/chat/run", ASK), ("/chat/stream", ASK))
        ]
    assert "module-1" in page
    assert "exam" not in page
    assert told == ["module-1"] * 4


async def test_a_module_that_the_books_do_not_have_is_named_with_those_they_have() -> None:
    async with visiting(House(answerer=plain_answer)) as client:
        answer = await client.post("/chat/run", json=ASK | {"module": "module-9"})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == "module"
    assert error["allowed"] == "module-1"
