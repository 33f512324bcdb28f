"""A loopback server that speaks OpenAI's chat completions, as strict as the real one, and fails
in every way that the real one can."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.peers.loopback import serving

KEY = "sk-loopback"
MODEL = "gpt-4o-mini"


@dataclass(frozen=True)
class Says:
    """A reply in text, a few characters a chunk."""

    text: str
    finish: str | None = "stop"
    refusal: str = ""
    usage: bool = True
    size: int = 5
    reasoning: str = ""
    """What a reasoning model says to itself, before its text."""
    reasoning_field: str = "reasoning_content"


@dataclass(frozen=True)
class Calls:
    """A reply that calls tools, arguments in pieces."""

    arguments: tuple[str, ...]
    name: str = "retrieve_documentation"
    finish: str = "tool_calls"
    text: str = ""
    extra: dict[str, Any] | None = None
    """What comes with each call and must go back with it."""
    same_index: bool = False
    """Whether all calls come whole, with the same index, as from Gemini."""


@dataclass(frozen=True)
class Status:
    """No stream but a status with the API's error document, or any body."""

    status: int
    retry_after: str | None = None
    code: str | None = None
    body: str | None = None
    message: str = "internal words of the vendor"


@dataclass(frozen=True)
class Cut:
    """A reply that stops after so many bytes: by a reset, or by a clean end."""

    reply: Says | Calls
    after: int
    reset: bool
    linger: float = 0.0


@dataclass(frozen=True)
class Raw:
    """Bytes as they are, sent as a stream."""

    body: bytes


@dataclass(frozen=True)
class Slow:
    """A reply that begins late, and waits between its chunks."""

    reply: Says | Calls
    first: float = 0.0
    each: float = 0.0


@dataclass(frozen=True)
class Held:
    """A reply that stops after so many chunks, until it may go on; after all of them, its end
    waits."""

    reply: Says | Calls
    after: int
    go_on: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class Reset:
    """The connection is closed without an answer."""


Scripted = Says | Calls | Status | Cut | Raw | Slow | Held | Reset


def query(text: str) -> str:
    """The arguments of a search, as the schema wants them."""
    return json.dumps({"query": text, "top_k": None, "similarity_threshold": None, "module": None})


@dataclass
class OpenAIPeer:
    """Plays its script, one reply a request; what the real API would refuse is refused."""

    script: list[Scripted] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    callers: set[Any] = field(default_factory=set)
    """The connections that requests came by."""
    url: str = ""
    model: str = MODEL
    refuses: dict[str, str] = field(default_factory=dict)
    """Fields of a request that this server knows nothing of, each with its words for that."""
    plain_schemas: bool = False
    """Whether schemas may hold single types only, as at Gemini."""
    signature: dict[str, Any] | None = None
    """What must come back with every tool call, as at Gemini."""
    wants_tools: bool = True
    """Whether tool messages are refused in a request without tools."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return error(401, "Incorrect API key provided.", code="invalid_api_key")
        return await self._answer(request)

    async def handle_deployment(self, request: web.Request) -> web.StreamResponse:
        """The same door at Azure: the key in a header of its own, the version in the address."""
        if request.headers.get("api-key") != KEY or "Authorization" in request.headers:
            return error(401, "Access denied due to invalid subscription key.", code="401")
        if request.match_info["deployment"] != self.model:
            return error(404, "The API deployment does not exist.", code="DeploymentNotFound")
        if "api-version" not in request.query:
            return error(404, "Resource not found", code="404")
        return await self._answer(request)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.callers.add(request.transport)
        for name, words in self.refuses.items():
            if name in body or (name == "strict" and '"strict"' in json.dumps(body)):
                self.refused.append(words)
                return error(400, words, param=name, code="unsupported_parameter")
        fault = self._fault_in(body)
        if fault:
            self.refused.append(fault)
            return error(400, fault, code="invalid_request_error")
        if not self.script:
            return error(400, "the script has no more replies", code="script_ended")
        return await self._play(self.script.pop(0), request)

    def _fault_in(self, body: dict[str, Any]) -> str:
        if body.get("model") != self.model:
            return "The model does not exist."
        if self.signature is not None and not is_signed(body, self.signature):
            return "Function call is missing a thought_signature in functionCall parts."
        if self.plain_schemas and (fault := fault_in_plain_tools(body)):
            return fault
        if self.wants_tools and (fault := fault_in_history(body)):
            return fault
        return fault_in(body, refused=self.refuses, plain=self.plain_schemas)

    async def _play(self, reply: Scripted, request: web.Request) -> web.StreamResponse:
        match reply:
            case Status():
                return failed(reply)
            case Reset():
                abort(request)
                return web.Response()
            case Slow():
                await asyncio.sleep(reply.first)
                return await stream(request, chunks_of(reply.reply), pause=reply.each)
            case Held():
                return await stream(
                    request, chunks_of(reply.reply), hold=(reply.after, reply.go_on)
                )
            case Cut():
                whole = b"".join(chunks_of(reply.reply))[: reply.after]
                return await stream(request, [whole], reset=reply.reset, linger=reply.linger)
            case Raw():
                return await stream(request, [reply.body])
            case _:
                return await stream(request, chunks_of(reply))


@contextlib.asynccontextmanager
async def openai_peer(
    *script: Scripted, of: type[OpenAIPeer] = OpenAIPeer
) -> AsyncIterator[OpenAIPeer]:
    """The server on a free loopback port."""
    peer = of(script=list(script))
    app = web.Application()
    app.router.add_post("/v1/chat/completions", peer.handle)
    app.router.add_post("/openai/deployments/{deployment}/chat/completions", peer.handle_deployment)
    async with serving(app) as host:
        peer.url = f"http://{host}/v1"
        yield peer


async def stream(
    request: web.Request,
    chunks: Sequence[bytes],
    *,
    pause: float = 0.0,
    hold: tuple[int, asyncio.Event] | None = None,
    linger: float = 0.0,
    reset: bool = False,
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for number, chunk in enumerate(chunks):
        await asyncio.sleep(pause)
        if hold is not None and number == hold[0]:
            await hold[1].wait()
        await response.write(chunk)
    if hold is not None and hold[0] == len(chunks):
        await hold[1].wait()
    await asyncio.sleep(linger)
    if reset:
        await asyncio.sleep(0.005)  # what was written leaves before the connection breaks
        abort(request)
        return response
    await response.write_eof()
    return response


def abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def error(
    status: int, message: str, *, code: str | None = None, param: str | None = None
) -> web.Response:
    document = {"error": {"message": message, "type": "error", "param": param, "code": code}}
    return web.json_response(document, status=status)


def failed(reply: Status) -> web.Response:
    if reply.body is not None:
        response = web.Response(status=reply.status, text=reply.body, content_type="text/html")
    else:
        response = error(reply.status, reply.message, code=reply.code)
    if reply.retry_after is not None:
        response.headers["Retry-After"] = reply.retry_after
    return response


def chunks_of(reply: Says | Calls) -> list[bytes]:
    """A reply as server-sent events, ended by [DONE]."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if isinstance(reply, Says):
        thoughts = [reply.reasoning[n : n + 5] for n in range(0, len(reply.reasoning), 5)]
        deltas += [{"content": None, reply.reasoning_field: thought} for thought in thoughts]
        pieces = [reply.text[at : at + reply.size] for at in range(0, len(reply.text), reply.size)]
        deltas += [{"content": piece} for piece in pieces]
        deltas += [{"refusal": reply.refusal}] if reply.refusal else []
    else:
        deltas += [{"content": reply.text}] if reply.text else []
        deltas += [
            delta for at, text in enumerate(reply.arguments) for delta in call(at, text, reply)
        ]
    events = [sse(choice(delta)) for delta in deltas]
    if reply.finish is not None:
        events.append(sse(choice({}, finish=reply.finish)))
    if not isinstance(reply, Says) or reply.usage:
        usage = {"prompt_tokens": 70, "completion_tokens": 7, "total_tokens": 77}
        events.append(sse({**envelope(), "choices": [], "usage": usage}))
    return [*events, b"data: [DONE]\n\n"]


def call(index: int, arguments: str, reply: Calls) -> list[dict[str, Any]]:
    """One tool call in chunks: its name first, its arguments in two pieces."""
    if reply.same_index:
        whole = {"name": reply.name, "arguments": arguments}
        call_0: dict[str, Any] = {"index": 0, "id": f"call_{index}", "function": whole}
        return [{"tool_calls": [call_0 | signed(reply)]}]
    half = len(arguments) // 2
    function = {"name": reply.name, "arguments": ""}
    first: dict[str, Any] = {"index": index, "id": f"call_{index}", "type": "function"}
    first |= {"function": function} | signed(reply)
    rest = [
        {"index": index, "function": {"arguments": p}} for p in (arguments[:half], arguments[half:])
    ]
    return [{"tool_calls": [part]} for part in (first, *rest)]


def signed(reply: Calls) -> dict[str, Any]:
    return {"extra_content": reply.extra} if reply.extra else {}


def is_signed(body: dict[str, Any], signature: dict[str, Any]) -> bool:
    """Whether every tool call that comes back has what it was sent with, or the documented sign
    that the model did not make it."""
    known = (signature, {"google": {"thought_signature": "skip_thought_signature_validator"}})
    return all(
        call.get("extra_content") in known
        for message in body["messages"]
        for call in message.get("tool_calls") or []
    )


def envelope() -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}


def choice(delta: dict[str, Any], *, finish: str | None = None) -> dict[str, Any]:
    return {**envelope(), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def sse(document: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(document, ensure_ascii=False)}\n\n".encode()


def fault_in(body: dict[str, Any], *, refused: Collection[str] = (), plain: bool = False) -> str:
    """What the real API would refuse in this request; empty: nothing."""
    has_usage = body.get("stream_options", {}).get("include_usage")
    if not body.get("stream") or not (has_usage or "stream_options" in refused):
        return "this peer only streams, with usage"
    if not 0 <= body.get("temperature", 1) <= 2:
        return "Invalid 'temperature'."
    if {"max_tokens", "max_completion_tokens"} <= body.keys():
        return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    messages = body.get("messages") or []
    if plain or "strict" in refused:
        return fault_in_messages(messages)
    return fault_in_tools(body) or fault_in_messages(messages)


def fault_in_history(body: dict[str, Any]) -> str:
    """What a server refuses that reads no tool messages without their tools."""
    has_results = any(message["role"] == "tool" for message in body.get("messages") or [])
    if has_results and not body.get("tools"):
        return "Requests which have tool calls in their messages must define tools."
    return ""


def fault_in_plain_tools(body: dict[str, Any]) -> str:
    """What a server refuses whose schemas hold single types."""
    for tool in body.get("tools") or []:
        schema = tool["function"]["parameters"]
        if any(not isinstance(each["type"], str) for each in schema["properties"].values()):
            return 'Unknown name "type": Proto field is not repeating, cannot start list.'
        if "additionalProperties" in schema or "strict" in tool["function"]:
            return 'Unknown name "additionalProperties": Cannot find field.'
    return ""


def fault_in_tools(body: dict[str, Any]) -> str:
    if "tool_choice" in body and not body.get("tools"):
        return "'tool_choice' is only allowed when 'tools' are specified."
    for tool in body.get("tools") or []:
        schema = tool["function"]["parameters"]
        if not tool["function"].get("strict"):
            return "the tool is not strict"
        if set(schema["required"]) != set(schema["properties"]):
            return "Invalid schema for function: 'required' must include every key."
        if schema.get("additionalProperties") is not False:
            return "Invalid schema for function: 'additionalProperties' must be false."
    return ""


def fault_in_messages(messages: list[dict[str, Any]]) -> str:
    """The order that the API insists on: every tool call answered, and by tool messages only."""
    if not messages:
        return "'messages' is too short."
    open_calls: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                return "A 'tool' message must answer a preceding 'tool_calls'."
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return "An assistant message with 'tool_calls' must be followed by tool messages."
        if message.get("content") is None and not message.get("tool_calls"):
            return "Invalid value for 'content': expected a string, got null."
        if "name" in message:
            return "a name where none belongs"
        open_calls = {tool_call["id"] for tool_call in message.get("tool_calls") or []}
    return "tool calls without results" if open_calls else ""
