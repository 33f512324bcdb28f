"""Servers that speak OpenAI's API, each with its own limits: what one refuses is left out."""

from __future__ import annotations

import pytest

from rag_core.agent.answer import Outcome
from rag_core.errors import FootnoteError, ModelBehaviourError, UpstreamRejected
from rag_core.providers.chat.dialect import Habits
from rag_core.providers.chat.endpoint import (
    GEMINI_HABITS,
    OPENAI_HABITS,
    Endpoint,
    azure_endpoint,
)
from tests.fakes.listening_progress import ListeningProgress
from tests.flow.test_agent_over_openai import ANSWER, RIGHT, SEARCH, agent_at, ask
from tests.peers.openai import (
    KEY,
    MODEL,
    Calls,
    OpenAIPeer,
    Says,
    Status,
    openai_peer,
    query,
)

REFUSALS = {
    "temperature": "Unsupported value: 'temperature' does not support 0.1 with this model.",
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead.",
    "stream_options": "Unknown field: stream_options",
    "strict": 'Invalid JSON payload received. Unknown name "strict": Cannot find field.',
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_field_that_is_refused_is_left_out_and_remembered(name: str) -> None:
    async with openai_peer(SEARCH, ANSWER, SEARCH, ANSWER) as peer:
        peer.refuses = {name: REFUSALS[name]}
        async with agent_at(peer, max_tokens=900) as agent:
            assert (await ask(agent)).answer == RIGHT
            assert (await ask(agent)).answer == RIGHT
    assert len(peer.refused) == 1
    assert len(peer.requests) == 5
    if name == "max_tokens":
        assert peer.requests[-1]["max_completion_tokens"] == 900


async def test_several_fields_are_learnt_one_after_the_other() -> None:
    async with openai_peer(SEARCH, ANSWER) as peer:
        peer.refuses = dict(REFUSALS)
        async with agent_at(peer, max_tokens=900) as agent:
            assert (await ask(agent)).answer == RIGHT
    assert len(peer.refused) == len(REFUSALS)


async def test_both_names_of_the_length_may_be_refused() -> None:
    async with openai_peer(SEARCH, ANSWER) as peer:
        peer.refuses = {
            "max_tokens": "max_tokens: Extra inputs are not permitted",
            "max_completion_tokens": "max_completion_tokens: Extra inputs are not permitted",
        }
        async with agent_at(peer, max_tokens=900) as agent:
            assert (await ask(agent)).answer == RIGHT


async def test_a_tool_that_must_be_called_may_be_refused() -> None:
    class Peer(OpenAIPeer):
        def _fault_in(self, body: dict[str, object]) -> str:
            if body.get("tool_choice") == "required":
                return "tool_choice 'required' is not supported in thinking mode"
            return super()._fault_in(body)

    async with openai_peer(SEARCH, ANSWER, of=Peer) as peer, agent_at(peer) as agent:
        assert (await ask(agent)).answer == RIGHT
    assert peer.requests[-1]["tool_choice"] == "auto"


@pytest.mark.parametrize(
    "words", ["temperature is a fine word in a prompt", "I refuse.", "the tools are wrong"]
)
async def test_a_refusal_that_leaving_out_does_not_mend_ends_soon(words: str) -> None:
    refused = [Status(400, message=words)] * 9
    async with openai_peer(SEARCH, *refused) as peer, agent_at(peer) as agent:
        with pytest.raises(UpstreamRejected) as raised:
            await ask(agent)
    assert len(peer.requests) <= 3
    assert raised.value.vendor_reason == words
    assert words not in str(raised.value)


async def test_the_vendors_own_model_gets_the_name_that_it_takes() -> None:
    async with openai_peer(SEARCH, ANSWER) as peer:
        endpoint = Endpoint(model=MODEL, api_key=KEY, base_url=peer.url, habits=OPENAI_HABITS)
        async with agent_at(peer, endpoint=endpoint, max_tokens=900) as agent:
            await ask(agent)
    assert peer.requests[0]["max_completion_tokens"] == 900
    assert "max_tokens" not in peer.requests[0]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_what_a_model_reasons_reaches_nobody(field: str) -> None:
    progress = ListeningProgress()
    said = Says(RIGHT, reasoning="The secret is 42, so", reasoning_field=field, usage=False)
    async with openai_peer(SEARCH, said) as peer, agent_at(peer) as agent:
        response = await ask(agent, progress)
    assert response.answer == RIGHT
    assert response.tokens_used > 77
    assert not any("secret" in shown for shown in progress.shown)


async def test_a_reply_of_reasoning_alone_is_empty() -> None:
    said = Says("", reasoning="Hm, what do they want?")
    async with openai_peer(SEARCH, *[said] * 3) as peer, agent_at(peer) as agent:
        with pytest.raises(ModelBehaviourError, match="empty"):
            await ask(agent)


@pytest.mark.parametrize("nothing", ["\u200b", "\u200b\u2060\n", "\ufeff \u200d"])
async def test_characters_that_show_nothing_are_an_empty_reply(nothing: str) -> None:
    async with openai_peer(SEARCH, Says(nothing), ANSWER) as peer, agent_at(peer) as agent:
        assert (await ask(agent)).answer == RIGHT


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource", "SAFETY", "abort"])
async def test_a_reply_that_ends_for_an_unknown_reason_is_not_complete(reason: str) -> None:
    broken = Says(RIGHT, finish=reason)
    async with openai_peer(SEARCH, broken, ANSWER) as peer, agent_at(peer, pause=0.0) as agent:
        assert (await ask(agent)).answer == RIGHT
    async with openai_peer(SEARCH, *[broken] * 3) as peer, agent_at(peer, pause=0.0) as agent:
        with pytest.raises(FootnoteError):
            await ask(agent)


async def test_a_server_that_calls_tools_where_none_may_be_called_is_asked_without_them() -> None:
    script = (SEARCH, SEARCH, SEARCH, ANSWER, SEARCH, SEARCH, ANSWER)
    async with openai_peer(*script) as peer:
        peer.wants_tools = False
        async with agent_at(peer) as agent:
            assert (await ask(agent)).answer == RIGHT
            assert "tools" not in peer.requests[3]
            assert (await ask(agent)).answer == RIGHT
    assert "tools" not in peer.requests[-1], "it is remembered"
    assert peer.script == []


async def test_gemini_gets_plain_schemas_and_its_signatures_back() -> None:
    signature = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    both = Calls((query("upload files"), query("files a day")), extra=signature, same_index=True)
    async with openai_peer(both, ANSWER) as peer:
        peer.plain_schemas, peer.signature = True, signature
        endpoint = Endpoint(model=MODEL, api_key=KEY, base_url=peer.url, habits=GEMINI_HABITS)
        async with agent_at(peer, endpoint=endpoint) as agent:
            response = await ask(agent)
    assert peer.refused == []
    assert response.answer == RIGHT
    calls = peer.requests[1]["messages"][-3]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == list(both.arguments)


async def test_gemini_takes_a_search_that_it_did_not_make() -> None:
    async with openai_peer(Says("I know that."), ANSWER) as peer:
        peer.plain_schemas, peer.signature = True, {"google": {"thought_signature": "x"}}
        endpoint = Endpoint(model=MODEL, api_key=KEY, base_url=peer.url, habits=GEMINI_HABITS)
        async with agent_at(peer, endpoint=endpoint) as agent:
            assert (await ask(agent)).answer == RIGHT
    assert peer.refused == []


async def test_plain_schemas_are_learnt_where_nobody_named_the_server() -> None:
    async with openai_peer(SEARCH, ANSWER) as peer:
        peer.plain_schemas = True
        endpoint = Endpoint(model=MODEL, api_key=KEY, base_url=peer.url, habits=Habits())
        async with agent_at(peer, endpoint=endpoint) as agent:
            assert (await ask(agent)).outcome is Outcome.COMPLETED
    assert len(peer.refused) == 1


async def test_azure_is_asked_by_deployment_version_and_its_own_header() -> None:
    async with openai_peer(SEARCH, ANSWER) as peer:
        peer.model = "my-gpt"
        endpoint = azure_endpoint(
            endpoint=peer.url.removesuffix("v1"),
            deployment="my-gpt",
            api_version="2024-10-21",
            api_key=KEY,
        )
        async with agent_at(peer, endpoint=endpoint) as agent:
            response = await ask(agent)
    assert response.answer == RIGHT
    assert response.model == "my-gpt"
