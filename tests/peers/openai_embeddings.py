"""A loopback server that speaks OpenAI's embeddings, as strict as the real one."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fakes.embedder import WordEmbedder
from tests.peers.faults import Fault, Faults
from tests.peers.loopback import serving
from tests.peers.openai import KEY, error

DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-ada-002": 1536, "own-model": 48}
FIELDS = {"model", "input", "encoding_format", "dimensions", "user"}
MOST_TEXTS = 2_048
MOST_TOKENS, MOST_TOKENS_A_TEXT = 300_000, 8_192


@dataclass
class EmbeddingsPeer:
    """Embeds by words, in an order of its own; plays its faults first."""

    faults: Faults
    requests: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    url: str = ""

    async def embed(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return error(401, "Incorrect API key provided.", code="invalid_api_key")
        body = await request.json()
        self.requests.append(body)
        fault = fault_in(body)
        if fault:
            self.refused.append(fault)
            return error(400, fault, code="invalid_request_error")
        return await self.faults.next(request) or web.json_response(embeddings(body))


@contextlib.asynccontextmanager
async def embeddings_peer(*faults: Fault) -> AsyncIterator[EmbeddingsPeer]:
    """The server on a free loopback port."""
    peer = EmbeddingsPeer(faults=Faults(list(faults)))
    app = web.Application(client_max_size=16 * 1024**2)
    app.router.add_post("/v1/embeddings", peer.embed)
    async with serving(app) as host:
        peer.url = f"http://{host}/v1/"
        yield peer


def fault_in(body: dict[str, Any]) -> str:
    """What the real API would refuse in this request; empty: nothing."""
    texts = body.get("input")
    if body.keys() - FIELDS:
        return f"Unrecognized request argument: {sorted(body.keys() - FIELDS)}"
    if body.get("model") not in DIMENSIONS:
        return "The model does not exist."
    if not isinstance(texts, list) or not 1 <= len(texts) <= MOST_TEXTS:
        return "'input' must hold 1 to 2048 texts."
    if not all(isinstance(text, str) and text for text in texts):
        return "'input' must not hold an empty string."
    if max(map(tokens, texts)) > MOST_TOKENS_A_TEXT:
        return "This model's maximum context length is 8192 tokens."
    if sum(map(tokens, texts)) > MOST_TOKENS:
        return "max 300000 tokens per request"
    if "dimensions" in body and not body["model"].startswith("text-embedding-3"):
        return "This model does not support specifying dimensions."
    return ""


def tokens(text: str) -> int:
    """What a tokenizer makes of plain words, at the most."""
    return len(text.encode()) // 3 + 1


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """The last text's vector comes first: only the index says which is which."""
    words = WordEmbedder(dimension=body.get("dimensions") or DIMENSIONS[body["model"]])
    data = [
        {"object": "embedding", "index": index, "embedding": [2 * v for v in words.vector(text)]}
        for index, text in enumerate(body["input"])
    ]
    usage = {"prompt_tokens": 7, "total_tokens": 7}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}
