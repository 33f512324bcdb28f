"""OpenAI's embeddings over loopback, and what their failures become."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from rag_core.errors import UpstreamRejected, UpstreamUnavailable
from rag_core.providers.embedders.openai import open_openai_embedder
from rag_core.providers.embedders.remote import RemoteEmbedder
from rag_core.providers.embedders.vectors import CallBudget
from rag_core.providers.retries import Retries
from tests.fakes.embedder import WordEmbedder
from tests.peers.faults import Body, Fault, Reset, Slow, Status
from tests.peers.openai import KEY
from tests.peers.openai_embeddings import EmbeddingsPeer, embeddings_peer

QUICK = Retries(attempts=3, first_seconds=0.01, longest_seconds=0.02, patience=5.0)
ONCE = Retries(attempts=1, patience=0.2)
SMALL = "text-embedding-3-small"


@asynccontextmanager
async def embedding(
    *faults: Fault, retries: Retries = QUICK, **changes: Any
) -> AsyncIterator[tuple[RemoteEmbedder, EmbeddingsPeer]]:
    async with embeddings_peer(*faults) as peer:
        wanted = {"api_key": KEY, "base_url": peer.url, "model": SMALL} | changes
        async with open_openai_embedder(documents=retries, queries=retries, **wanted) as embedder:
            yield embedder, peer


async def test_vectors_belong_to_their_texts_whatever_order_they_come_in() -> None:
    words = WordEmbedder(dimension=1536)
    async with embedding() as (embedder, peer):
        vectors = await embedder.embed_documents(["the oven", "the tray"])
        query = await embedder.embed_query("the timer")
    assert vectors[0] == pytest.approx(words.vector("the oven"))
    assert vectors[1] == pytest.approx(words.vector("the tray"))
    assert query == pytest.approx(words.vector("the timer"))
    assert all(body["encoding_format"] == "float" for body in peer.requests)
    assert all("dimensions" not in body for body in peer.requests)


async def test_a_dimension_is_sent_only_where_it_was_asked_for() -> None:
    async with embedding(dimension=512) as (embedder, peer):
        assert embedder.dimension == 512
        assert len(await embedder.embed_query("oven")) == 512
    assert peer.requests[0]["dimensions"] == 512


async def test_a_model_of_ones_own_says_its_dimension_itself() -> None:
    async with embedding(model="own-model") as (embedder, _):
        assert embedder.dimension == 48


async def test_a_call_never_holds_more_than_its_budget_of_texts_and_tokens() -> None:
    long = "many plain words " * 900
    async with embedding() as (embedder, peer):
        assert len(await embedder.embed_documents([long] * 60)) == 60
        assert len(await embedder.embed_documents(["short"] * 600)) == 600
    assert peer.refused == []
    assert len(peer.requests) > 4
    async with embedding(budget=CallBudget(texts=2)) as (embedder, peer):
        await embedder.embed_documents(["a b c"] * 5)
    assert [len(body["input"]) for body in peer.requests] == [2, 2, 1]


async def test_one_endless_text_is_cut_and_not_refused() -> None:
    async with embedding() as (embedder, peer):
        await embedder.embed_documents(["x" * 500_000])
    assert peer.refused == []


@pytest.mark.parametrize(
    "faults",
    [
        [Status(500)],
        [Status(429)],
        [Reset(), Reset()],
        [Body("not JSON")],
        [Body("[]")],
        [Body(json.dumps({"object": "list", "data": None}))],
        [Body(json.dumps({"object": "list", "data": []}))],
        [Body(json.dumps({"data": [{"index": 0, "embedding": "AAAA"}]}))],
        [Body(json.dumps({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}))],
    ],
)
async def test_a_passing_fault_is_not_seen_by_who_embeds(faults: list[Fault]) -> None:
    async with embedding(*faults) as (embedder, peer):
        assert len(await embedder.embed_query("oven")) == 1536
    assert len(peer.requests) == len(faults) + 1


async def test_a_long_wait_that_the_service_asks_for_is_not_made() -> None:
    async with embedding(Status(429, retry_after="240")) as (embedder, peer):
        with pytest.raises(UpstreamRejected) as refused:
            await embedder.embed_query("oven")
    assert refused.value.retry_after == 240
    assert len(peer.requests) == 1


async def test_an_answer_that_does_not_come_ends_with_the_patience() -> None:
    async with embedding(Slow(30), retries=ONCE) as (embedder, _):
        with pytest.raises(UpstreamUnavailable):
            await asyncio.wait_for(embedder.embed_query("oven"), timeout=10)


@pytest.mark.parametrize("changes", [{"api_key": "wrong"}, {"model": "text-embedding-ada-002"}])
async def test_a_clear_refusal_is_not_tried_again(changes: dict[str, Any]) -> None:
    async with embedding(**changes, dimension=64) as (embedder, peer):
        with pytest.raises(UpstreamRejected) as refused:
            await embedder.embed_query("oven")
    assert not refused.value.retryable
    assert len(peer.requests) <= 1
