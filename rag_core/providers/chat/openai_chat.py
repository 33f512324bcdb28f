"""OpenAI's chat completions, or any server that speaks them, behind the ChatModel port."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI

from rag_core.agent.model_events import (
    ModelEvent,
    Restarted,
    TextDelta,
    ToolChoice,
    ToolSpec,
)
from rag_core.conversation.message import Message
from rag_core.errors import (
    ModelBehaviourError,
    UpstreamError,
    UpstreamRejected,
    UpstreamUnavailable,
)
from rag_core.providers.chat.dialect import MAX_LESSONS, Dialect
from rag_core.providers.chat.endpoint import Endpoint
from rag_core.providers.chat.openai_stream import Assembly, events_of
from rag_core.providers.retries import Breaker, Retries

log = logging.getLogger(__name__)

SERVICE = "openai"
PATH = "/chat/completions"
CONNECT_SECONDS = 10.0
WAITING = 4
"""Questions that wait until a model that is away is tried again. They are few: while it is away for
long, the others must hear so at once, and whoever waits keeps a place in which one is worked on."""
LAST_BYTES_SECONDS = 0.1
"""How long what follows a reply's last event is read: a connection that is read to its end serves
the next request, without another handshake."""
REFUSED_CODES = frozenset({"content_filter", "content_policy_violation"})
FIELD_STATUSES = frozenset({400, 422})
MAX_REASON = 1_000
SPENT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


@contextlib.asynccontextmanager
async def open_openai_chat(
    endpoint: Endpoint, *, retries: Retries | None = None, breaker: Breaker | None = None
) -> AsyncIterator[OpenAIChat]:
    """A chat model whose connections are closed with it."""
    retries = retries or Retries()
    key = endpoint.api_key or "none"  # servers of one's own need no key, but the client wants one
    client = AsyncOpenAI(
        api_key=key,
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=openai.Timeout(retries.patience, connect=CONNECT_SECONDS),
        default_query={"api-version": endpoint.api_version} if endpoint.api_version else None,
    )
    async with client:
        yield OpenAIChat(client, endpoint, retries=retries, breaker=breaker)


class OpenAIChat:
    """Streams replies; tries again what may be tried again, within its patience."""

    def __init__(
        self,
        client: AsyncOpenAI,
        endpoint: Endpoint,
        *,
        retries: Retries,
        breaker: Breaker | None = None,
    ) -> None:
        self._client = client
        self._model = endpoint.model
        self._dialect = Dialect(endpoint.habits)
        self._headers: dict[str, str | openai.Omit] = {}
        if endpoint.api_version is not None:
            self._headers = {"api-key": client.api_key, "Authorization": openai.omit}
        self._retries = retries
        self._breaker = breaker or Breaker(SERVICE, waiting=WAITING)

    @property
    def name(self) -> str:
        return self._model

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice,
        temperature: float,
        max_tokens: int | None,
    ) -> AsyncIterator[ModelEvent]:
        """Text, then one Finished. A reply that was cut begins anew, three times at most; a request
        that is refused for one of its fields is sent again without it."""
        write = partial(
            self._dialect.request,
            self._model,
            messages,
            tools=tools,
            tool_choice=tool_choice,
            temperature=temperature,
            max_tokens=max_tokens,
        )
        request, started = write(), time.monotonic()
        attempt = lessons = 0
        while True:
            attempt += 1
            assembly = Assembly(messages)
            try:
                async with contextlib.aclosing(self._attempt(request, assembly)) as deltas:
                    async for delta in deltas:
                        yield delta
                finished = assembly.finished()
                self._dialect.remember(assembly.extras)
                if tool_choice is ToolChoice.NONE and "tools" in request and assembly.only_calls:
                    self._dialect.stop_forbidding()
                    request, attempt = write(), attempt - 1
                    if assembly.has_text:
                        yield Restarted()
                    continue
                yield finished
            except UpstreamError as error:
                if (
                    isinstance(error, FieldRefused)
                    and lessons < MAX_LESSONS
                    and (simpler := self._learnt(error, request, write)) is not None
                ):
                    request, lessons, attempt = simpler, lessons + 1, attempt - 1
                    continue
                pause = self._retries.pause(
                    error, attempt=attempt, elapsed=time.monotonic() - started
                )
                if pause is None and assembly.has_ended:
                    raise ModelBehaviourError(assembly.fault) from error
                if pause is None:
                    raise
                if assembly.has_text:
                    yield Restarted()
                await asyncio.sleep(pause)
            else:
                return

    def _learnt(
        self, error: FieldRefused, request: dict[str, Any], write: Callable[[], dict[str, Any]]
    ) -> dict[str, Any] | None:
        """The request without what was refused; None where the refusal names nothing of it."""
        self._dialect.learn(error.vendor_reason, request)
        simpler = write()
        if simpler == request:
            return None
        log.info("request field refused", extra={"model": self._model})
        return simpler

    async def _attempt(
        self, request: dict[str, Any], assembly: Assembly
    ) -> AsyncGenerator[TextDelta, None]:
        """One request. What is lost after the reply's own end is not missed."""
        await self._breaker.turn()
        with openai_errors(self._breaker):
            # Past `chat.completions.create`, which walks through every field of the request by
            # its declared types, for longer than all else that it does.
            response = await self._client.post(
                PATH,
                cast_to=httpx2.Response,
                body=request,
                options={"headers": self._headers},
                stream=True,
            )
        self._breaker.succeeded()
        async with contextlib.aclosing(response), contextlib.aclosing(read(response)) as chunks:
            while (chunk := await next_chunk(chunks, assembly)) is not None:
                text = assembly.add(chunk)
                if text:
                    yield TextDelta(text)


async def read(response: httpx2.Response) -> AsyncGenerator[Mapping[str, Any], None]:
    """The events of a reply; a connection that breaks is an answer that did not come."""
    pieces = response.aiter_bytes()
    try:
        async for event in events_of(pieces):
            yield event
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise UpstreamUnavailable(SERVICE) from error
    await read_off(pieces)


async def read_off(pieces: AsyncIterator[bytes]) -> None:
    """The rest of a body whose reply is whole; nothing that happens to it matters any more."""
    with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.StreamError):
        async with asyncio.timeout(LAST_BYTES_SECONDS):
            async for _ in pieces:
                pass


async def next_chunk(
    chunks: AsyncIterator[Mapping[str, Any]], assembly: Assembly
) -> Mapping[str, Any] | None:
    """The next piece of a stream; None at its end, or where it broke after the reply's end."""
    try:
        return await anext(chunks, None)
    except UpstreamError:
        if assembly.has_ended:
            return None
        raise


@contextlib.contextmanager
def openai_errors(breaker: Breaker | None = None) -> Iterator[None]:
    """The vendor's errors as ours; the breaker hears of those that are the service's fault."""
    try:
        yield
    except openai.APIConnectionError as error:
        if breaker:
            breaker.failed()
        raise UpstreamUnavailable(SERVICE) from error
    except openai.APIStatusError as error:
        if breaker:
            (breaker.failed if error.status_code >= 500 else breaker.succeeded)()
        raise refusal(error) from error
    except openai.OpenAIError as error:  # malformed, or in-stream
        raise UpstreamUnavailable(SERVICE, "an answer that cannot be read") from error


class FieldRefused(UpstreamRejected):
    """The request itself was refused, perhaps for one of its fields."""


def refusal(error: openai.APIStatusError) -> UpstreamError | ModelBehaviourError:
    """A status as the error that says what to do about it."""
    status, code, reason = error.status_code, getattr(error, "code", None), reason_in(error.body)
    if code in REFUSED_CODES:
        return ModelBehaviourError("The language model declined to answer.")
    after = seconds_after(error)
    if status in {429, 503}:
        return UpstreamRejected(
            SERVICE,
            f"status {status}",
            retryable=code not in SPENT_CODES,
            retry_after=after,
            vendor_reason=reason,
        )
    if status >= 500 or status in {408, 409, 425}:
        return UpstreamUnavailable(SERVICE, f"status {status}")
    kind = FieldRefused if status in FIELD_STATUSES else UpstreamRejected
    return kind(SERVICE, f"status {status}", vendor_reason=reason)


def reason_in(body: object) -> str:
    """The sentence of an error document. Vendors wrap it in lists, or name it otherwise; of what
    has another form, the whole is read."""
    while isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict) and "error" in body:
        return reason_in(body["error"])
    if isinstance(body, dict):
        message, field = body.get("message"), body.get("param")
        text = message if isinstance(message, str) else json.dumps(body, ensure_ascii=False)
        body = f"{text} ({field})" if isinstance(field, str) and field not in text else text
    return body[:MAX_REASON] if isinstance(body, str) else ""


def seconds_after(error: openai.APIStatusError) -> float | None:
    """What the service asks us to wait, where it says so in seconds."""
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            return max(0.0, float(headers[name]) * unit)
    return None
