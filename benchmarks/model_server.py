"""A server that speaks chat completions at a fixed pace, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from aiohttp import web

FIRST_SECONDS, EACH_SECONDS = 0.2, 0.005
TOKENS = 100


@contextmanager
def model_server() -> Iterator[str]:
    """Its address, while it runs."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(theirs,), daemon=True
    )
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def serve(told: Connection) -> None:
    asyncio.run(serving(told))


async def serving(told: Connection) -> None:
    app = web.Application(client_max_size=10_000_000)
    app.router.add_post("/v1/chat/completions", completions)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
    told.send(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    await asyncio.Event().wait()


async def completions(request: web.Request) -> web.StreamResponse:
    body = await request.json()
    has_searched = any(message["role"] == "tool" for message in body["messages"])
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    if has_searched:
        await write_answer(response, body["messages"])
    else:
        await write_search(response, body["messages"][-1]["content"])
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


async def write_search(response: web.StreamResponse, question: str) -> None:
    arguments = {"query": question, "top_k": None, "similarity_threshold": None, "module": None}
    function = {"name": "retrieve_documentation", "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    await response.write(event({"tool_calls": [call]}))
    await response.write(event({}, finish="tool_calls"))


async def write_answer(response: web.StreamResponse, messages: list[dict[str, Any]]) -> None:
    """The first sentences of the passages that were handed over, with their markers."""
    found = json.loads(next(m["content"] for m in messages if m["role"] == "tool"))["results"]
    said = " ".join(f"{p['chunk_text'].split('. ')[0]} [{p['rank']}]." for p in found)
    words = (said + " ").split(" ")
    await asyncio.sleep(FIRST_SECONDS)
    for number in range(TOKENS):
        piece = " ".join(words[number * len(words) // TOKENS : (number + 1) * len(words) // TOKENS])
        await response.write(event({"content": piece + " "}))
        await asyncio.sleep(EACH_SECONDS)
    await response.write(event({}, finish="stop"))


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode()
