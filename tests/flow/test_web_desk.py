"""A question over HTTP through the real desk and database, and what is left after a restart."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from adapters.apologies import apologise
from adapters.web.parts import WebParts
from adapters.web.renderer import WebRenderer
from rag_core.agent.answer import AgentResponse
from rag_core.agent.manner import Manner
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform
from rag_core.conversation.message import Message
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.answering import Answering
from rag_core.desk.bell import Bell
from rag_core.desk.desk import Desk
from rag_core.desk.limits import DeskLimits
from rag_core.desk.outgoing import Outlet
from rag_core.desk.progress import Progress, QuestionState
from rag_core.desk.worker import Worker
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.feedback import Feedback
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.builders import a_response
from tests.fakes.web_house import House
from tests.fakes.web_visit import events_of, visiting

ASK = {"message": "How often may a key ask?"}


@dataclass(frozen=True)
class Answered:
    """What the agent hands back."""

    response: AgentResponse
    turn: Turn | None


class PlainAgent:
    """Answers every question alike, and remembers the turn."""

    async def answer(
        self,
        question: Question,
        *,
        state: ConversationState,
        books: BookIds,
        audience: Audience | None,
        progress: Progress,
        locale: str,
        manner: Manner,
    ) -> Answered:
        await progress.stage(QuestionState.RETRIEVING)
        await progress.stage(QuestionState.GENERATING)
        await progress.text("Ten a day [1].")
        now = datetime.now(UTC)
        said = (Message.user(question.message, at=now), Message.assistant("Ten [1].", at=now))
        response = a_response(query=question.message, session_id=state.session_id)
        return Answered(response, Turn(session_id=state.session_id, messages=said))


class RealHouse(House):
    """The small house with the real desk and database in it."""

    def __init__(self, database: Database, *, max_turns: int = 50) -> None:
        super().__init__()
        self.database = database
        self.max_turns = max_turns
        self.bell = Bell()

    def parts(self) -> WebParts:
        ledger = QuestionLedger(self.database)
        return replace(
            super().parts(),
            desk=Desk(ledger=ledger, bell=self.bell, observer=Unseen()),
            conversations=Conversations(self.database),
            answers=ledger,
            feedback=Feedback(self.database),
            clock=lambda: datetime.now(UTC) - timedelta(seconds=1),
        )

    def worker(self) -> Worker:
        outlet = Outlet(renderer=WebRenderer(), replies=self.replies)
        return Worker(
            name="worker",
            ledger=QuestionLedger(self.database),
            answers=Answering(
                agent=PlainAgent(),
                conversations=Conversations(self.database),
                library=self.library,
                apologise=apologise,
                model="plain",
                max_turns=self.max_turns,
            ),
            outlets={Platform.WEB: outlet},
            bell=self.bell,
            observer=Unseen(),
            limits=DeskLimits(),
        )


class Unseen:
    """An observer who looks away."""

    def __getattr__(self, name: str) -> object:
        return lambda *args, **kwargs: None


@contextlib.asynccontextmanager
async def working(file: Path, *, max_turns: int = 50) -> AsyncIterator[httpx.AsyncClient]:
    async with open_database(f"sqlite:///{file}") as database:
        house = RealHouse(database, max_turns=max_turns)
        work = asyncio.create_task(house.worker().run())
        try:
            async with visiting(house) as client:
                yield client
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work


async def test_a_question_goes_through_the_desk_and_its_thread_outlives_the_process(
    tmp_path: Path,
) -> None:
    async with working(tmp_path / "footnote.db") as client:
        events = events_of((await client.post("/chat/stream", json=ASK)).text)
        answer = events[-1].data
        rating = {"answer_id": answer["answer_id"], "rating": "helpful"}
        assert (await client.post("/feedback", json=rating)).status_code == 204
    stages = [event.data["state"] for event in events if event.name == "stage"]
    assert stages == ["PENDING", "RETRIEVING", "GENERATING"]
    assert [event.name for event in events][-2:] == ["text", "final"]
    session = answer["session_id"]
    async with working(tmp_path / "footnote.db") as client:
        follow_up = {"message": "And over HTTP?", "session_id": session}
        assert (await client.post("/chat/run", json=follow_up)).json()["session_id"] == session
        resumed = await client.post(
            "/chat/stream", json=ASK, headers={"Last-Event-ID": events[1].id}
        )
        thread = (await client.get(f"/threads/{session}")).json()
        page = (await client.get("/", params={"thread": session})).text
        deleted = await client.delete(f"/threads/{session}")
        gone = await client.get(f"/threads/{session}")
    assert events_of(resumed.text)[-1].data == answer
    assert [m["content"] for m in thread["messages"] if m["role"] == "user"] == [
        ASK["message"],
        "And over HTTP?",
    ]
    assert thread["messages"][0] == {**thread["messages"][0], "role": "system", "content": ""}
    assert page.index(ASK["message"]) < page.index("And over HTTP?")
    assert f'<span class="name">{ASK["message"]}</span>' in page
    assert [deleted.status_code, gone.status_code] == [204, 404]


async def test_a_thread_that_had_its_turns_says_so_and_goes_on_in_a_fresh_session(
    tmp_path: Path,
) -> None:
    async with working(tmp_path / "footnote.db", max_turns=2) as client:
        answers = [(await client.post("/chat/run", json=ASK)).json()]
        for _ in range(3):
            again = {**ASK, "session_id": answers[0]["session_id"]}
            answers.append((await client.post("/chat/run", json=again)).json())
    assert ["begin afresh" in answer["answer"] for answer in answers] == [False, False, True, False]
    assert all(answer["answer"].endswith("Ten a day [1].") for answer in answers)
    sessions = [answer["session_id"] for answer in answers]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
