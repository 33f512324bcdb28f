"""Streams over a real socket: words come as they are written, and a cut line loses nothing."""

from __future__ import annotations

import asyncio
import socket

import httpx
import pytest

from adapters.web.app import create_app
from adapters.web.server import serve
from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress, QuestionState
from tests.fakes.web_house import House
from tests.fakes.web_values import a_response
from tests.fakes.web_visit import Event, a_config, heard, hearing, served

ASK = {"message": "How often may a key ask?"}
SESSION = "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11"


class Writer:
    """Writes the first words, then waits until it is told to go on."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def __call__(self, question: IncomingQuestion, progress: Progress) -> AgentResponse:
        await progress.stage(QuestionState.GENERATING)
        await progress.text("A key ")
        await self.go_on.wait()
        await progress.text("may ask.")
        return a_response(question)


async def asked(client: httpx.AsyncClient, *, until: str, last: str = "") -> list[Event]:
    """The stream of one question up to an event; then the client leaves."""
    headers = {"Last-Event-ID": last} if last else {}
    body = ASK | {"session_id": SESSION}
    async with client.stream("POST", "/chat/stream", json=body, headers=headers) as response:
        return await heard(response, until=until)


async def test_the_first_words_arrive_before_the_last_are_written() -> None:
    writer = Writer()
    async with (
        served(House(answerer=writer)) as client,
        client.stream("POST", "/chat/stream", json=ASK) as response,
    ):
        events = hearing(response)
        names = [(await anext(events)).name for _ in range(3)]
        assert names == ["stage", "stage", "text"]
        assert not writer.go_on.is_set()
        writer.go_on.set()
        assert [event.name async for event in events] == ["text", "final"]


async def test_a_piece_does_not_wait_until_the_one_before_is_confirmed() -> None:
    """Without this each event of a stream, and each body after its head, is held for some 40 ms."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(serve(create_app(House().parts(), a_config()), listener))
        await asyncio.sleep(0)
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving


async def test_a_client_that_leaves_does_not_lose_the_answer() -> None:
    writer, house = Writer(), House()
    house.answerer = writer
    async with served(house) as client:
        begun = await asked(client, until="text")
        writer.go_on.set()
        resumed = await asked(client, until="final", last=begun[-1].id)
        thread = (await client.get(f"/threads/{SESSION}")).json()
    assert "".join(e.data["delta"] for e in begun + resumed if e.name == "text") == (
        "A key may ask."
    )
    assert thread["turn_count"] == 1
    assert len(house.ledger.entries) == 1


async def test_many_listen_to_one_question_and_all_hear_it_whole() -> None:
    writer = Writer()
    async with served(House(answerer=writer)) as client:
        begun = await asked(client, until="text")
        listening = [
            asyncio.create_task(asked(client, until="final", last=begun[0].id)) for _ in range(5)
        ]
        writer.go_on.set()
        streams = await asyncio.gather(*listening)
    assert len({tuple(event.id for event in stream) for stream in streams}) == 1
    assert [event.name for event in streams[0]] == ["stage", "text", "text", "final"]


async def test_a_server_that_ends_lets_go_of_its_streams_and_the_next_one_answers() -> None:
    before = House(answerer=Writer())
    async with served(before) as client:
        begun = await asked(client, until="text")
        stuck = asyncio.create_task(asked(client, until="final", last=begun[-1].id))
        await asyncio.sleep(0.05)
    cut = await asyncio.gather(stuck, return_exceptions=True)
    assert isinstance(cut[0], httpx.HTTPError) or cut == [[]]
    for task in before.tasks:
        task.cancel()
    after = House(ledger=before.ledger, conversations=before.conversations, works=False)
    async with served(after) as client:
        resuming = asyncio.create_task(asked(client, until="final", last=begun[-1].id))
        await after.work()
        events = await resuming
    assert events[-1].name == "final"
    assert len(after.ledger.entries) == 1


async def test_questions_of_many_callers_are_answered_side_by_side() -> None:
    async with served(House()) as client:
        answers = await asyncio.gather(
            *(client.post("/chat/run", json={"message": f"Question {n}?"}) for n in range(50))
        )
    assert [answer.json()["query"] for answer in answers] == [f"Question {n}?" for n in range(50)]


async def test_who_waits_for_a_whole_answer_is_told_of_a_restart_and_finds_it_afterwards() -> None:
    house = House(works=False)
    async with served(house) as client:
        waiting = asyncio.create_task(client.post("/chat/run", json=ASK | {"session_id": SESSION}))
        while not house.ledger.entries:  # noqa: ASYNC110 - it is on its way through a socket
            await asyncio.sleep(0.005)
        house.replies.leave()
        told = await waiting
        await house.work()
        thread = (await client.get(f"/threads/{SESSION}")).json()
    assert told.status_code == 503
    assert told.headers["Retry-After"]
    assert SESSION in told.json()["detail"]
    assert thread["turn_count"] == 1


async def test_a_stream_is_not_ended_by_a_restart_with_an_error() -> None:
    house = House(answerer=Writer())
    async with served(house) as client:
        begun = asyncio.create_task(asked(client, until="final"))
        while not house.tasks:  # noqa: ASYNC110 - it is on its way through a socket
            await asyncio.sleep(0.005)
        house.replies.leave()
        writer = house.answerer
        assert isinstance(writer, Writer)
        writer.go_on.set()
        events = await begun
    assert events[-1].name == "final"
