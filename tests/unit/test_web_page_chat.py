"""What the page asks besides HTTP: drawn answers, and questions edited, deleted, asked again."""

from __future__ import annotations

import httpx
import pytest

from rag_core.agent.answer import AgentResponse
from rag_core.agent.checks.guard import GuardedText
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress, QuestionState
from tests.fakes.web_house import House
from tests.fakes.web_values import a_response
from tests.fakes.web_visit import events_of, visiting, with_keys

MESSAGE = "0" * 31 + "1"
SESSION = "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11"
FIRST = {"message": "How often may a key ask?", "session_id": SESSION}
EDITED = {"message": "How often may a person ask?", "session_id": SESSION}
NEVER_HEARD = {"Last-Event-ID": f"{MESSAGE}.00000000.0"}
QUESTION = f"/page/questions/{MESSAGE}"


async def echo(question: IncomingQuestion, progress: Progress) -> AgentResponse:
    """Answers with the question, so that it is seen which one was answered."""
    await progress.stage(QuestionState.GENERATING)
    await progress.text("**Wait")
    await progress.text("**\n\n- <b>one</b>")
    return a_response(question, answer=GuardedText(question.question.message), citations=())


async def asked(client: httpx.AsyncClient, body: dict[str, str] = FIRST) -> str:
    """The answer to the question, as the page hears it."""
    stream = await client.post("/page/stream", json=body, headers=NEVER_HEARD)
    return str(events_of(stream.text)[-1].data["answer"])


async def test_a_growing_answer_is_drawn_and_harmless() -> None:
    async with visiting(House(answerer=echo)) as client:
        stream = await client.post("/page/stream", json=FIRST, headers=NEVER_HEARD)
    events = events_of(stream.text)
    drawn = [event.data["html"] for event in events if event.name == "prose"]
    assert "<strong>Wait</strong>" in drawn[-1]
    assert "<li>&lt;b&gt;one&lt;/b&gt;</li>" in drawn[-1]
    names = [event.name for event in events]
    assert set(names[:-1]) == {"stage", "prose"}
    assert names[-1] == "final"


async def test_a_long_message_is_split_into_question_and_paste() -> None:
    house = House(answerer=echo)
    log = "\n".join(f"line {number} of the log" for number in range(200))
    body = FIRST | {"message": f"How often may a key ask?\n\n{log}"}
    async with visiting(house) as client:
        assert await asked(client, body) == FIRST["message"]
        again = body | {"message": f"How often may a person ask?\n\n{log}"}
        assert (await client.put(QUESTION, json=again)).status_code == 204
    [entry] = house.ledger.entries.values()
    assert entry.question.question.message == EDITED["message"]
    assert entry.question.question.context[0].text == log


async def test_an_edited_question_is_answered_anew() -> None:
    house = House(answerer=echo)
    async with visiting(house) as client:
        assert await asked(client) == FIRST["message"]
        house.works = False
        assert (await client.put(QUESTION, json=EDITED)).status_code == 204
        page = (await client.get("/", params={"thread": SESSION})).text
        await house.work()
        answer = await asked(client, EDITED)
    assert "data-answer=" not in page, "the old answer is not the answer"
    assert "waiting" in page
    assert answer == EDITED["message"]


async def test_an_edit_is_checked_like_a_question() -> None:
    house = House(answerer=echo)
    async with visiting(house) as client:
        await asked(client)
        empty = await client.put(QUESTION, json={**EDITED, "message": " "})
        module = await client.put(QUESTION, json={**EDITED, "module": "nowhere"})
        odd = await client.put("/page/questions/1", json=EDITED)
        house.ledger.broken = True
    assert [empty.status_code, module.status_code, odd.status_code] == [422, 422, 404]
    (entry,) = house.ledger.entries.values()
    assert entry.question.question.message == FIRST["message"]


async def test_a_deleted_question_is_gone_from_its_thread() -> None:
    house = House(answerer=echo)
    async with visiting(house) as client:
        await asked(client)
        assert (await client.delete(QUESTION)).status_code == 204
        page = (await client.get("/", params={"thread": SESSION})).text
        again = await client.delete(QUESTION)
    assert FIRST["message"] not in page
    assert again.status_code == 404
    assert house.replies.remembered == 0


async def test_an_answer_whose_source_changed_says_so_and_is_given_anew() -> None:
    house = House()

    async def changed(question: IncomingQuestion, progress: Progress) -> AgentResponse:
        return a_response(question, source_changed=True)

    house.answerer = changed
    async with visiting(house) as client:
        stream = await client.post("/page/stream", json=FIRST, headers=NEVER_HEARD)
        answer_id = events_of(stream.text)[-1].data["answer_id"]
        shown = (await client.get(f"/page/answers/{answer_id}")).text
        house.answerer = echo
        assert (await client.post(f"/page/answers/{answer_id}/again")).status_code == 204
        assert await asked(client) == FIRST["message"]
        gone = await client.post(f"/page/answers/{answer_id}/again")
    assert "A source changed since this answer." in shown
    assert 'data-act="renew"' in shown
    assert gone.status_code == 404


async def test_a_rating_is_shown_where_the_answer_is() -> None:
    house = House()
    async with visiting(house) as client:
        answer = (await client.post("/chat/run", json=FIRST)).json()
        rating = {"answer_id": answer["answer_id"], "rating": "not_helpful"}
        await client.post("/feedback", json=rating)
        shown = (await client.get(f"/page/answers/{answer['answer_id']}")).text
    assert 'data-act="not_helpful" aria-pressed="true"' in shown
    assert 'data-act="helpful" aria-pressed="false"' in shown


@pytest.mark.parametrize("key", ["ask-key-2", "admin-key-1"])
async def test_anothers_question_is_not_there(key: str) -> None:
    house = House(answerer=echo)
    async with visiting(house, with_keys(), key="ask-key-1") as client:
        stream = await client.post("/page/stream", json=FIRST, headers=NEVER_HEARD)
        answer_id = events_of(stream.text)[-1].data["answer_id"]
    async with visiting(house, with_keys(), key=key) as other:
        answers = [
            await other.put(QUESTION, json=EDITED),
            await other.delete(QUESTION),
            await other.post(f"/page/answers/{answer_id}/again"),
        ]
    assert [answer.status_code for answer in answers] == [404] * 3
    (entry,) = house.ledger.entries.values()
    assert entry.question.question.message == FIRST["message"]
