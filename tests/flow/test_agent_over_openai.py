"""The agent through the real OpenAI client against a server that fails in every known way."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from rag_core.agent.agent import Agent
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.agent.config import AgentConfig
from rag_core.books.book import BookIds
from rag_core.conversation.question import Question
from rag_core.errors import (
    AnswerTimedOut,
    FootnoteError,
    ModelBehaviourError,
    UpstreamRejected,
    UpstreamUnavailable,
)
from rag_core.providers.chat.endpoint import Endpoint
from rag_core.providers.chat.openai_chat import open_openai_chat
from rag_core.providers.retries import Breaker, Retries
from tests.builders import a_thread
from tests.fakes.listening_progress import ListeningProgress
from tests.fakes.memory_retriever import MemoryRetriever, passage
from tests.peers.openai import (
    KEY,
    MODEL,
    Calls,
    Cut,
    Held,
    OpenAIPeer,
    Raw,
    Reset,
    Says,
    Slow,
    Status,
    chunks_of,
    openai_peer,
    query,
)

LIMITS = passage("Every member may upload ten files a day. A file may have at most 25 MB.")
SEARCH = Calls((query("upload files"),))
ANSWER = Says("A member may upload ten files a day [1].")
RIGHT = "A member may upload ten files a day [1]."


@contextlib.asynccontextmanager
async def agent_at(
    peer: OpenAIPeer,
    *,
    key: str = KEY,
    pause: float = 0.01,
    breaker: Breaker | None = None,
    endpoint: Endpoint | None = None,
    **config: Any,
) -> AsyncIterator[Agent]:
    retries = Retries(first_seconds=pause, patience=config.get("answer_seconds", 60.0))
    endpoint = endpoint or Endpoint(model=MODEL, api_key=key, base_url=peer.url)
    async with open_openai_chat(endpoint, retries=retries, breaker=breaker) as model:
        yield Agent(model=model, retriever=MemoryRetriever([LIMITS]), config=AgentConfig(**config))


async def ask(agent: Agent, progress: ListeningProgress | None = None) -> AgentResponse:
    answered = await agent.answer(
        Question(message="How many files may a member upload a day?"),
        state=a_thread(),
        books=BookIds(["handbook"]),
        audience=None,
        progress=progress or ListeningProgress(),
    )
    return answered.response


async def test_the_tool_loop_is_what_the_api_accepts() -> None:
    async with openai_peer(SEARCH, SEARCH, ANSWER) as peer, agent_at(peer) as agent:
        response = await ask(agent)
    assert peer.refused == []
    assert response.answer == RIGHT
    assert response.outcome is Outcome.COMPLETED
    assert response.tokens_used == 3 * 77
    assert response.model == MODEL
    first, second, last = peer.requests
    assert (first["tool_choice"], second["tool_choice"]) == ("required", "auto")
    assert (last["tool_choice"], last["tools"]) == ("none", first["tools"])
    assert last["temperature"] == 0.1


async def test_calls_side_by_side_are_answered_each() -> None:
    both = Calls((query("upload files"), query("files a day")))
    async with openai_peer(both, ANSWER) as peer, agent_at(peer) as agent:
        response = await ask(agent)
    assert peer.refused == []
    assert response.answer == RIGHT
    assert response.retrieval_count == len(response.sources) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Status(429, retry_after="0"),
        Status(429),
        Status(500),
        Status(502, body="<html>bad gateway</html>"),
        Status(503, retry_after="0.01"),
        Status(408),
        Reset(),
        Raw(b"data: {broken json\n\n"),
        Raw(b"data: [1, 2]\n\n"),
        Raw(b"data: \xff\xfe\n\n"),
        Raw(b'data: {"error": {"message": "overloaded"}}\n\n'),
        Raw(b"<html>not a stream at all</html>"),
        Raw(b""),
        Raw(b"data: 7\n\ndata: null\n\n"),
        Raw(b'data: {"choices": {"0": 1}}\n\n'),
        Raw(b'data: {"choices": [{"delta": [], "finish_reason": 3}]}\r\n\r\n'),
        Raw(b": a comment\nevent: ping\n\ndata:\n\n"),
        Says("   "),
        Says(RIGHT, finish=None),
    ],
    ids=repr,
)
async def test_a_passing_fault_is_survived(fault: Any) -> None:
    async with openai_peer(SEARCH, fault, ANSWER) as peer, agent_at(peer) as agent:
        response = await ask(agent)
    assert response.answer == RIGHT
    assert len(peer.requests) == 3


@pytest.mark.parametrize(
    ("fault", "expected", "attempts"),
    [
        (Status(500), UpstreamUnavailable, 3),
        (Status(503), UpstreamRejected, 3),
        (Status(429), UpstreamRejected, 3),
        (Status(429, code="insufficient_quota"), UpstreamRejected, 1),
        (Status(400), UpstreamRejected, 1),
        (Status(404), UpstreamRejected, 1),
        (Status(400, code="content_filter"), ModelBehaviourError, 1),
        (Reset(), UpstreamUnavailable, 3),
        (Says(RIGHT, finish=None), UpstreamUnavailable, 3),
        (Says(""), ModelBehaviourError, 3),
        (Says(RIGHT, finish="length"), ModelBehaviourError, 1),
        (Says(RIGHT, finish="content_filter"), ModelBehaviourError, 1),
        (Says("", refusal="I will not."), ModelBehaviourError, 1),
        (Raw(b"data: nonsense\n\n"), UpstreamUnavailable, 3),
    ],
    ids=repr,
)
async def test_a_lasting_fault_is_one_clear_error(
    fault: Any, expected: type[FootnoteError], attempts: int
) -> None:
    async with openai_peer(SEARCH, *[fault] * 5) as peer, agent_at(peer) as agent:
        with pytest.raises(expected) as raised:
            await ask(agent)
    assert len(peer.requests) - 1 == attempts
    assert "internal words" not in str(raised.value)


class Clock:
    """A clock that stands still until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


async def failed(agent: Agent) -> None:
    with pytest.raises(FootnoteError):
        await ask(agent)


async def test_a_service_that_is_down_is_spared_and_tried_again_after_five_seconds() -> None:
    clock = Clock()
    breaker = Breaker("openai", clock=clock)
    async with openai_peer() as peer, agent_at(peer, pause=0.0, breaker=breaker) as agent:
        peer.script = [Status(500)] * 9
        await failed(agent)
        await failed(agent)
        assert len(peer.requests) == 5, "the sixth attempt is not made"
        await failed(agent)
        assert len(peer.requests) == 5
        clock.now += 5.0
        peer.script = [Status(502)]
        await failed(agent)
        assert len(peer.requests) == 6, "one tries, and finds it down still"
        clock.now += 5.0
        peer.script = [SEARCH, ANSWER]
        assert (await ask(agent)).answer == RIGHT
        peer.script = [SEARCH, ANSWER]
        assert (await ask(agent)).answer == RIGHT


async def test_who_asks_soon_after_an_outage_is_answered_at_the_next_trial() -> None:
    breaker = Breaker("openai", failures=2, rest_seconds=0.2, waiting=1)
    async with openai_peer() as peer, agent_at(peer, pause=0.0, breaker=breaker) as agent:
        peer.script = [Status(503), Status(503), SEARCH, ANSWER]
        assert (await ask(agent)).answer == RIGHT


@pytest.mark.parametrize(
    "fault",
    [
        Status(429), Status(400), Status(404), Raw(b"data: nonsense\n\n"), Says(""),
        Cut(ANSWER, after=60, reset=True), Cut(ANSWER, after=60, reset=False),
    ],
    ids=repr,
)  # fmt: skip
async def test_what_is_not_the_service_s_fault_spares_it_nothing(fault: Any) -> None:
    async with openai_peer() as peer, agent_at(peer, pause=0.0) as agent:
        for _ in range(4):
            peer.script = [SEARCH, fault, fault, fault]
            await failed(agent)
        peer.script = [SEARCH, ANSWER]
        assert (await ask(agent)).answer == RIGHT


async def test_no_connection_counts_as_the_service_s_fault() -> None:
    breaker = Breaker("openai", clock=Clock())
    async with openai_peer() as peer:
        url = peer.url
    async with agent_at(OpenAIPeer(url=url), pause=0.0, breaker=breaker) as agent:
        await failed(agent)
        await failed(agent)
    with pytest.raises(UpstreamUnavailable, match="left alone"):
        await breaker.turn()


async def test_a_wrong_key_is_refused_at_once() -> None:
    async with openai_peer(SEARCH) as peer, agent_at(peer, key="wrong") as agent:
        with pytest.raises(UpstreamRejected, match="401"):
            await ask(agent)


async def test_no_server_at_all_is_unavailable() -> None:
    async with openai_peer() as peer:
        url = peer.url
    async with agent_at(OpenAIPeer(url=url)) as agent:
        with pytest.raises(UpstreamUnavailable):
            await ask(agent)


async def test_being_told_to_wait_beyond_the_deadline_ends_at_once() -> None:
    async with openai_peer(SEARCH, Status(429, retry_after="240")) as peer, agent_at(peer) as agent:
        with pytest.raises(UpstreamRejected) as raised:
            await ask(agent)
    assert raised.value.retry_after == 240
    assert len(peer.requests) == 2


@pytest.mark.parametrize("slow", [Slow(ANSWER, first=60), Slow(ANSWER, each=20)])
async def test_a_slow_server_meets_the_deadline(slow: Slow) -> None:
    async with openai_peer(SEARCH, slow) as peer, agent_at(peer, answer_seconds=0.3) as agent:
        with pytest.raises(AnswerTimedOut):
            await ask(agent)


def last_byte_that_matters() -> int:
    """Where the line that ends the reply is whole; what follows is usage and [DONE]."""
    whole = b"".join(chunks_of(ANSWER))
    return whole.index(b"\n", whole.index(b'"finish_reason": "stop"')) + 1


WHOLE = b"".join(chunks_of(ANSWER))
FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
EDGES = {last_byte_that_matters() - 1, last_byte_that_matters(), len(WHOLE) - 1}


def cuts(step: int) -> list[int]:
    """Where a stream is cut: after every so many bytes, and beside the end that matters."""
    return sorted({*range(0, len(WHOLE), step), *EDGES})


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "clean end"])
async def test_a_stream_cut_at_any_byte_begins_anew(reset: bool) -> None:
    """Every byte with FOOTNOTE_TESTS=full, else some: one bot, so no cut may open its breaker."""
    async with openai_peer() as peer, agent_at(peer, pause=0.0) as agent:
        for after in cuts(1 if FULL else 61):
            peer.script = [SEARCH, Cut(ANSWER, after=after, reset=reset), ANSWER]
            progress = ListeningProgress()
            response = await ask(agent, progress)
            assert response.answer == RIGHT, f"cut after {after} bytes"
            assert len(peer.script) == (1 if after >= last_byte_that_matters() else 0)
            assert all(RIGHT.startswith(shown) for shown in progress.drafts)


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "clean end"])
async def test_a_stream_that_is_always_cut_is_never_shown_as_complete(reset: bool) -> None:
    async with openai_peer() as peer, agent_at(peer, pause=0.0) as agent:
        for after in cuts(1 if FULL else 151):
            cut = Cut(ANSWER, after=after, reset=reset)
            peer.script, before = [SEARCH, cut, cut, cut], len(peer.requests)
            if after >= last_byte_that_matters():
                assert (await ask(agent)).answer == RIGHT
                continue
            with pytest.raises(UpstreamUnavailable):
                await ask(agent)
            assert len(peer.requests) - before == 4, f"cut after {after} bytes"


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "clean end"])
async def test_a_tool_call_cut_at_any_byte_is_asked_for_anew(reset: bool) -> None:
    whole = b"".join(chunks_of(SEARCH))
    ended = whole.index(b"\n", whole.index(b'"finish_reason": "tool_calls"')) + 1
    async with openai_peer() as peer, agent_at(peer, pause=0.0) as agent:
        for after in sorted({*range(0, len(whole), 1 if FULL else 97), ended - 1, ended}):
            peer.script = [Cut(SEARCH, after=after, reset=reset), SEARCH, ANSWER]
            if after >= ended:
                peer.script.pop(1)
            assert (await ask(agent)).answer == RIGHT, f"cut after {after} bytes"
            assert peer.script == []


async def test_a_reply_that_begins_anew_replaces_what_was_shown() -> None:
    progress = ListeningProgress()
    lost = Says("Twenty thousand files are allowed and then the connection breaks")
    cut = Cut(lost, after=len(b"".join(chunks_of(lost))) - 400, reset=False, linger=0.1)
    async with openai_peer(SEARCH, cut, ANSWER) as peer, agent_at(peer) as agent:
        response = await ask(agent, progress)
    assert response.answer == RIGHT
    assert progress.drafts[0].startswith("Twenty")
    assert RIGHT.startswith(progress.drafts[-1])


async def test_one_connection_serves_all_requests_of_a_question() -> None:
    async with openai_peer(SEARCH, ANSWER, SEARCH, ANSWER) as peer, agent_at(peer) as agent:
        for _ in range(2):
            assert (await ask(agent)).answer == RIGHT
    assert len(peer.requests) == 4
    assert len(peer.callers) == 1


async def test_a_server_that_never_ends_a_finished_reply_holds_up_no_answer() -> None:
    held = [Held(reply, after=len(chunks_of(reply))) for reply in (SEARCH, ANSWER)]
    async with openai_peer(*held) as peer, agent_at(peer, answer_seconds=10.0) as agent:
        assert (await ask(agent)).answer == RIGHT
        for each in held:
            each.go_on.set()


async def test_usage_is_guessed_where_the_server_reports_none() -> None:
    answer = Says(RIGHT, usage=False)
    async with openai_peer(SEARCH, answer) as peer, agent_at(peer) as agent:
        response = await ask(agent)
    assert response.tokens_used > 77 + 200


async def test_bad_arguments_of_the_model_are_answered_with_an_error() -> None:
    bad = Calls(('{"query": 7}',))
    async with openai_peer(bad, SEARCH, ANSWER) as peer, agent_at(peer) as agent:
        response = await ask(agent)
    assert peer.refused == []
    assert "Bad arguments" in peer.requests[1]["messages"][-1]["content"]
    assert response.answer == RIGHT
