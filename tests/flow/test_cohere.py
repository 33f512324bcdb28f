"""Cohere's models over loopback: what is asked of them, and what their failures become."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from rag_core.errors import UpstreamError, UpstreamRejected, UpstreamUnavailable
from rag_core.providers.cohere_reranker import CohereReranker, open_cohere_reranker
from rag_core.providers.embedders.cohere import open_cohere_embedder
from rag_core.providers.embedders.remote import RemoteEmbedder
from rag_core.providers.retries import Breaker, Retries
from tests.fakes.embedder import WordEmbedder
from tests.peers.cohere import KEY, CoherePeer, cohere_peer
from tests.peers.faults import Body, Fault, Reset, Slow, Status

QUICK = Retries(attempts=3, first_seconds=0.01, longest_seconds=0.02, patience=5.0)
ONCE = Retries(attempts=1, patience=0.2)


@asynccontextmanager
async def embedding(
    *faults: Fault, retries: Retries = QUICK, **changes: Any
) -> AsyncIterator[tuple[RemoteEmbedder, CoherePeer]]:
    async with cohere_peer(*faults) as peer:
        wanted = {"api_key": KEY, "base_url": peer.url, "model": "embed-english-v3.0"} | changes
        async with open_cohere_embedder(documents=retries, queries=retries, **wanted) as embedder:
            yield embedder, peer


@asynccontextmanager
async def reranking(
    *faults: Fault, retries: Retries = QUICK
) -> AsyncIterator[tuple[CohereReranker, CoherePeer]]:
    async with (
        cohere_peer(*faults) as peer,
        open_cohere_reranker(
            api_key=KEY, base_url=peer.url, model="rerank-v3.5", retries=retries
        ) as reranker,
    ):
        yield reranker, peer


def norm(vector: Sequence[float]) -> float:
    return math.sqrt(sum(value * value for value in vector))


async def test_documents_and_queries_are_embedded_each_as_what_they_are() -> None:
    async with embedding() as (embedder, peer):
        documents = await embedder.embed_documents(["the oven", "the tray"])
        query = await embedder.embed_query("the oven")
    kinds = [body["input_type"] for body in peer.embedded]
    assert kinds == ["search_document", "search_query"]
    assert [len(v) for v in (*documents, query)] == [1024] * 3
    assert norm(query) == pytest.approx(1.0)
    assert documents[0] == pytest.approx(WordEmbedder(dimension=1024).vector("the oven"))
    assert query != pytest.approx(documents[0])


async def test_many_texts_go_in_calls_of_ninety_six_and_keep_their_order() -> None:
    texts = [f"passage {number}" for number in range(200)]
    async with embedding() as (embedder, peer):
        vectors = await embedder.embed_documents(texts)
    assert [len(body["texts"]) for body in peer.embedded] == [96, 96, 8]
    words = WordEmbedder(dimension=1024)
    assert vectors[150] == pytest.approx(words.vector("passage 150"))
    assert len(vectors) == 200
    assert peer.refused == []


async def test_no_texts_are_no_call() -> None:
    async with embedding() as (embedder, peer):
        assert list(await embedder.embed_documents([])) == []
    assert peer.embedded == []


async def test_a_known_model_opens_without_a_call_and_an_unknown_one_asks() -> None:
    async with embedding(model="embed-v4.0") as (embedder, peer):
        assert embedder.dimension == 1536
        assert peer.embedded == []
    async with embedding(model="embed-from-tomorrow") as (embedder, peer):
        assert embedder.dimension == 80
        assert len(peer.embedded) == 1


async def test_a_shorter_vector_is_asked_for_by_name() -> None:
    async with embedding(model="embed-v4.0", dimension=256) as (embedder, _):
        assert embedder.dimension == 256
        assert len(await embedder.embed_query("oven")) == 256


async def test_an_endless_text_is_cut_and_not_refused() -> None:
    async with embedding() as (embedder, peer):
        await embedder.embed_documents(["ö" * 50_000])
    assert len(peer.embedded[0]["texts"][0]) == 8_000


@pytest.mark.parametrize(
    "faults",
    [
        [Status(500)],
        [Status(503), Status(502)],
        [Reset()],
        [Reset(), Status(500, body="<html>")],
        [Body("not JSON")],
        [Body("[]")],
        [Body(json.dumps({"id": "1", "embeddings": {"float": [[1.0]]}}))],
        [Body(json.dumps({"id": "1", "embeddings": {"float": []}}))],
        [Body(json.dumps({"id": "1", "embeddings": None}))],
        [Body(json.dumps({"id": "1", "embeddings": {"float": [[0.0] * 1024]}}))],
        [Status(429)],
    ],
)
async def test_a_passing_fault_is_not_seen_by_who_embeds(faults: list[Fault]) -> None:
    async with embedding(*faults) as (embedder, peer):
        assert len(await embedder.embed_query("oven")) == 1024
    assert len(peer.embedded) == len(faults) + 1


async def test_the_wait_that_the_service_asks_for_is_kept_within_the_deadline() -> None:
    async with embedding(Status(429, retry_after="0.3")) as (embedder, _):
        started = asyncio.get_running_loop().time()
        await embedder.embed_query("oven")
        assert asyncio.get_running_loop().time() - started >= 0.3
    async with embedding(Status(429, retry_after="240")) as (embedder, peer):
        with pytest.raises(UpstreamRejected) as refused:
            await embedder.embed_query("oven")
    assert refused.value.retry_after == 240
    assert len(peer.embedded) == 1


async def test_a_service_that_stays_down_is_an_error_after_the_last_attempt() -> None:
    async with embedding(*[Status(500)] * 5) as (embedder, peer):
        with pytest.raises(UpstreamUnavailable) as error:
            await embedder.embed_query("oven")
    assert error.value.service == "cohere"
    assert "vendor" not in str(error.value)
    assert len(peer.embedded) == 3


async def test_an_answer_that_does_not_come_ends_with_the_patience() -> None:
    async with embedding(Slow(30), retries=ONCE) as (embedder, _):
        with pytest.raises(UpstreamUnavailable):
            await asyncio.wait_for(embedder.embed_query("oven"), timeout=10)


async def test_nobody_listening_is_unavailable() -> None:
    async with embedding() as (_, peer):
        url = peer.url
    async with open_cohere_embedder(
        api_key=KEY, base_url=url, model="embed-v4.0", queries=QUICK
    ) as embedder:
        with pytest.raises(UpstreamUnavailable):
            await embedder.embed_query("oven")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"api_key": "wrong"}, "401"),
        ({"model": "embed-english-v3.0", "dimension": 256}, "400"),
    ],
)
async def test_a_clear_refusal_is_not_tried_again(changes: dict[str, Any], status: str) -> None:
    async with embedding(**changes) as (embedder, peer):
        with pytest.raises(UpstreamRejected, match=status) as refused:
            await embedder.embed_query("oven")
    assert not refused.value.retryable
    assert len(peer.embedded) <= 1


async def test_a_model_that_is_not_there_is_refused_at_the_start() -> None:
    with pytest.raises(UpstreamRejected, match="404"):
        async with embedding(model="embed-nowhere"):
            pass


def places(found: Sequence[tuple[int, float]]) -> list[int]:
    return [place for place, _ in found]


async def test_passages_come_back_in_the_order_of_the_model() -> None:
    texts = ["the tray", "the oven is hot", "nothing at all"]
    async with reranking() as (reranker, peer):
        assert places(await reranker.rerank("how hot is the oven", texts, top=2)) == [1, 0]
        everything = await reranker.rerank("oven", texts, top=50)
        assert places(everything) == [1, 0, 2]
        assert [score for _, score in everything] == sorted(
            (score for _, score in everything), reverse=True
        )
        assert places(await reranker.rerank("oven", [], top=5)) == []
    assert [body["top_n"] for body in peer.reranked] == [2, 3]
    assert peer.refused == []


@pytest.mark.parametrize(
    "results",
    [
        [{"index": 7, "relevance_score": 0.9}],
        [{"index": 0, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.8}],
        [],
        [{"relevance_score": 0.9}],
        None,
    ],
)
async def test_an_order_that_does_not_fit_the_texts_is_asked_for_again(results: Any) -> None:
    wrong = Body(json.dumps({"id": "1", "results": results}))
    async with reranking(wrong) as (reranker, peer):
        assert places(await reranker.rerank("oven", ["the tray", "the oven"], top=1)) == [1]
    assert len(peer.reranked) == 2


@pytest.mark.parametrize("fault", [Status(500), Reset(), Status(401), Slow(30)])
async def test_a_rerank_that_fails_is_an_error_that_the_caller_may_do_without(
    fault: Fault,
) -> None:
    async with reranking(fault, retries=ONCE) as (reranker, _):
        with pytest.raises(UpstreamError) as error:
            await reranker.rerank("oven", ["the oven"], top=1)
    assert error.value.service == "cohere"


async def test_a_reranker_that_is_down_is_left_alone_after_some_failures() -> None:
    async with (
        cohere_peer(*[Status(500)] * 9) as peer,
        open_cohere_reranker(
            api_key=KEY,
            base_url=peer.url,
            model="rerank-v3.5",
            retries=ONCE,
            breaker=Breaker("cohere", failures=2, rest_seconds=60),
        ) as reranker,
    ):
        for _ in range(5):
            with pytest.raises(UpstreamUnavailable):
                await reranker.rerank("oven", ["the oven"], top=1)
    assert len(peer.reranked) == 2
