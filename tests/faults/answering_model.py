"""A language model that answers every question from what its tool found, and keeps a log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from aiohttp import web

from tests.peers.openai import (
    KEY,
    Calls,
    Reset,
    Says,
    Status,
    abort,
    chunks_of,
    error,
    failed,
    fault_in,
    query,
    stream,
)
from tests.peers.openai_embeddings import embeddings
from tests.peers.openai_embeddings import fault_in as embedding_fault_in

CANARY = re.compile(r"\bcanary-[0-9a-f]{8}\b")
CITATION = re.compile(r"\s*\[\d+\]")
NO_EVIDENCE = "The documents do not cover this."
VERDICTS = "report_verdicts"
"""The tool that reports what is verified of an answer."""


@dataclass
class ModelCall:
    """One request: when it came, whose canaries were in it, and whether it was answered."""

    at: float
    canaries: tuple[str, ...]
    asked: str
    first: bool
    """Whether it begins an answer; the second call of an answer brings the evidence."""
    finished: bool = False


@dataclass
class Embeds:
    """The embedding side of the service, which may be in trouble by itself."""

    down: bool = False
    seconds: float = 0.0
    dimensions: int | None = None
    """Other ones than the index was built with; None: the model's own."""

    async def handle(self, request: web.Request) -> web.Response:
        if self.down:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        await asyncio.sleep(self.seconds)
        body = await request.json()
        if fault := embedding_fault_in(body):
            return error(400, fault, code="invalid_request_error")
        wanted = {"dimensions": self.dimensions} if self.dimensions else {}
        return web.json_response(embeddings(body | wanted))


@dataclass(frozen=True)
class CutShort:
    """An answer that breaks off in the middle."""

    reset: bool


Trouble = Status | Reset | CutShort


@dataclass
class AnsweringModel:
    """Speaks the chat API; refuses what the real one would."""

    seconds: float = 0.0
    """How long an answer takes."""
    down: bool = False
    embeds: Embeds = field(default_factory=Embeds)
    calls: list[ModelCall] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    prompt_sizes: list[int] = field(default_factory=list)
    troubles: deque[Trouble] = field(default_factory=deque)
    """What happens to the next requests, one after the other."""
    troubled: set[str] = field(default_factory=set)
    """The canaries of the questions that met them."""
    url: str = ""
    _spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.down:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return error(401, "Incorrect API key provided.", code="invalid_api_key")
        try:
            body = await request.json()
        except ConnectionError:  # whoever asked has died
            return web.Response()
        if fault := fault_in(body):
            self.refused.append(fault)
            return error(400, fault, code="invalid_request_error")
        call = self._logged(body["messages"], verifying=verifies(body))
        if self.troubles:
            self.troubled.add(call.asked)
            return await troubled(request, self.troubles.popleft(), body["messages"])
        await asyncio.sleep(self.seconds / 2)
        answered = web.StreamResponse()
        reply = verdicts_on(body) if verifies(body) else reply_to(body["messages"])
        with contextlib.suppress(ConnectionError):  # whoever asked has died
            answered = await stream(request, chunks_of(reply))
            call.finished = True
            self._spent[call.asked] += monotonic() - call.at
        return answered

    def _logged(self, messages: list[dict[str, Any]], *, verifying: bool) -> ModelCall:
        said = [str(message.get("content") or "") for message in messages]
        asked = next(
            text
            for text, one in zip(said[::-1], messages[::-1], strict=True)
            if one["role"] == "user"
        )
        self.prompt_sizes.append(sum(map(len, said)))
        call = ModelCall(
            at=monotonic(),
            canaries=tuple(CANARY.findall("\n".join(said))),
            asked="".join(CANARY.findall(asked)[-1:]),
            first=not verifying and evidence_in(messages) is None,
        )
        self.calls.append(call)
        return call

    @property
    def begun(self) -> Counter[str]:
        """How often an answer was begun, by the canary of its question."""
        return Counter(call.asked for call in self.calls if call.first)

    def seconds_for(self, canary: str) -> float:
        """How long all calls for one question took that came to their end."""
        return self._spent.get(canary, 0.0)

    @property
    def unfinished(self) -> int:
        return sum(not call.finished for call in self.calls)


async def troubled(
    request: web.Request, trouble: Trouble, messages: list[dict[str, Any]]
) -> web.StreamResponse:
    match trouble:
        case Status():
            return failed(trouble)
        case Reset():
            abort(request)
            return web.Response()
        case CutShort():
            whole = chunks_of(reply_to(messages))
            with contextlib.suppress(ConnectionError):  # whoever asked has died
                return await stream(request, whole[: len(whole) // 2], reset=trouble.reset)
            return web.Response()


def evidence_in(messages: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """What the tool found for the last question; None before it was asked."""
    last = max(at for at, message in enumerate(messages) if message["role"] == "user")
    found = [json.loads(m["content"]) for m in messages[last:] if m["role"] == "tool"]
    return None if not found else [hit for one in found for hit in one.get("results") or ()]


def reply_to(messages: list[dict[str, Any]]) -> Says | Calls:
    """A search first; then the first sentence of the best passage, with its number."""
    evidence = evidence_in(messages)
    if evidence is None:
        asked = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        return Calls((query(CANARY.sub("", str(asked)).strip()),))
    if not evidence:
        return Says(NO_EVIDENCE)
    best = evidence[0]
    sentence = re.split(r"(?<=[.!?])\s", best["chunk_text"].strip().split("\n")[-1])[0]
    return Says(f"{sentence.rstrip('.')} [{best['rank']}].")


def verifies(body: dict[str, Any]) -> bool:
    """Whether the verdicts on an answer are asked for."""
    return any(tool["function"]["name"] == VERDICTS for tool in body.get("tools", ()))


def verdicts_on(body: dict[str, Any]) -> Calls:
    """Whatever stands word for word in a passage is supported, and nothing else."""
    asked = json.loads(body["messages"][-1]["content"])
    verdicts = []
    for claim in asked["claims"]:
        words = CITATION.sub("", claim["text"]).strip().rstrip(".")
        holding = [each["passage"] for each in asked["passages"] if words in each["text"]]
        unfounded = "no_claim" if claim["text"] == NO_EVIDENCE else "not_found"
        verdicts.append(
            {
                "claim": claim["claim"],
                "verdict": "supported" if holding else unfounded,
                "words": [{"passage": holding[0], "text": words}] if holding else [],
                "reason": "" if holding else "No passage says so.",
            }
        )
    return Calls((json.dumps({"verdicts": verdicts}),), name=VERDICTS)


@contextlib.asynccontextmanager
async def answering_model(*, seconds: float = 0.0) -> AsyncIterator[AnsweringModel]:
    """The server on a free loopback port."""
    model = AnsweringModel(seconds=seconds)
    app = web.Application(client_max_size=16 * 1024**2)
    app.router.add_post("/v1/chat/completions", model.handle)
    app.router.add_post("/v1/embeddings", model.embeds.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        model.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield model
    finally:
        await runner.cleanup()
