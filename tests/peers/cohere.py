"""A loopback server that speaks Cohere's embed and rerank, version 2, as strict as the real one."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fakes.embedder import WordEmbedder
from tests.peers.faults import Fault, Faults
from tests.peers.loopback import serving

KEY = "co-loopback"
DIMENSIONS = {"embed-english-v3.0": 1024, "embed-v4.0": 1536, "embed-from-tomorrow": 80}
RERANK_MODELS = {"rerank-v3.5"}
SHORTER = {256, 512, 1024, 1536}
MOST_TEXTS, MOST_DOCUMENTS = 96, 1_000
EMBED_FIELDS = {"model", "input_type", "texts", "embedding_types", "output_dimension", "truncate"}
RERANK_FIELDS = {"model", "query", "documents", "top_n", "max_tokens_per_doc"}
KINDS = {"search_document", "search_query", "classification", "clustering"}


@dataclass
class CoherePeer:
    """Embeds and reranks by shared words; plays its faults first."""

    faults: Faults
    embedded: list[dict[str, Any]] = field(default_factory=list)
    reranked: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    url: str = ""

    async def embed(self, request: web.Request) -> web.Response:
        return await self._answer(request, self.embedded, embed_fault, embeddings)

    async def rerank(self, request: web.Request) -> web.Response:
        return await self._answer(request, self.reranked, rerank_fault, ranking)

    async def _answer(
        self, request: web.Request, heard: list[dict[str, Any]], check: Any, answer: Any
    ) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return refusal(401, "invalid api token")
        body = await request.json()
        heard.append(body)
        fault = check(body)
        if fault:
            self.refused.append(fault)
            return refusal(404 if "not found" in fault else 400, fault)
        return await self.faults.next(request) or web.json_response(answer(body))


@contextlib.asynccontextmanager
async def cohere_peer(*faults: Fault) -> AsyncIterator[CoherePeer]:
    """The server on a free loopback port."""
    peer = CoherePeer(faults=Faults(list(faults)))
    app = web.Application()
    app.router.add_post("/v2/embed", peer.embed)
    app.router.add_post("/v2/rerank", peer.rerank)
    async with serving(app) as host:
        peer.url = f"http://{host}/"
        yield peer


def refusal(status: int, message: str) -> web.Response:
    return web.json_response({"id": "1", "message": message}, status=status)


def embed_fault(body: dict[str, Any]) -> str:
    """What the real API would refuse in this request; empty: nothing."""
    texts = body.get("texts")
    size = body.get("output_dimension")
    if body.keys() - EMBED_FIELDS:
        return f"unknown field: {sorted(body.keys() - EMBED_FIELDS)}"
    if body.get("model") not in DIMENSIONS:
        return f"model '{body.get('model')}' not found"
    if body.get("input_type") not in KINDS:
        return "valid input_type must be provided with the provided model"
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        return "texts must be a list of strings"
    if len(texts) > MOST_TEXTS:
        return f"total number of texts must be at most {MOST_TEXTS}"
    if not all(text.strip() for text in texts):
        return "texts must not be empty"
    if body.get("embedding_types") != ["float"]:
        return "embedding_types must be given"
    if size is not None and (body["model"] != "embed-v4.0" or size not in SHORTER):
        return "output_dimension is not supported for this model"
    return ""


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Vectors that are longer than one: whoever needs unit vectors must see to it."""
    size = body.get("output_dimension") or DIMENSIONS[body["model"]]
    words = WordEmbedder(dimension=size)
    vectors = [[3.0 * value for value in words.vector(text)] for text in body["texts"]]
    if body["input_type"] == "search_query":
        vectors = [[value + 0.01 for value in vector] for vector in vectors]
    return {
        "id": "embedding-1",
        "texts": body["texts"],
        "embeddings": {"float": vectors},
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 7}},
        "response_type": "embeddings_by_type",
    }


def rerank_fault(body: dict[str, Any]) -> str:
    documents = body.get("documents")
    if body.keys() - RERANK_FIELDS:
        return f"unknown field: {sorted(body.keys() - RERANK_FIELDS)}"
    if body.get("model") not in RERANK_MODELS:
        return f"model '{body.get('model')}' not found"
    if not str(body.get("query") or "").strip():
        return "query must not be empty"
    if not isinstance(documents, list) or not 1 <= len(documents) <= MOST_DOCUMENTS:
        return "documents must hold 1 to 1000 texts"
    if not all(isinstance(text, str) for text in documents):
        return "documents must be strings"
    if body.get("top_n", 1) < 1:
        return "top_n must be at least 1"
    return ""


def ranking(body: dict[str, Any]) -> dict[str, Any]:
    asked = set(body["query"].lower().split())
    shared = [len(asked & set(text.lower().split())) for text in body["documents"]]
    order = sorted(range(len(shared)), key=lambda place: -shared[place])[: body.get("top_n")]
    results = [
        {"index": place, "relevance_score": shared[place] / (len(asked) or 1)} for place in order
    ]
    return {"id": "rerank-1", "results": results, "meta": {"api_version": {"version": "2"}}}
