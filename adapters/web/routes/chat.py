"""`/chat`: a question and its answer, at once or as it is written."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from adapters.web.documents.answer_schema import AgentResponseModel
from adapters.web.documents.bodies import ChatBody
from adapters.web.documents.schemas import problems
from adapters.web.documents.stream_schema import STREAM, STREAMED
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import place_of, problem_of, unavailable
from adapters.web.reply import Final, HubEvent, Stage
from adapters.web.routes.asking import Asked, Asking
from rag_core.errors import DeskFull, StorageError, StorageFull

log = logging.getLogger(__name__)

Result = TypeVar("Result")

PING_SECONDS = 15


class ChatRoutes:
    """Questions over HTTP."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def router(self) -> APIRouter:
        router = APIRouter(tags=["chat"])
        router.add_api_route(
            "/chat/run",
            self.run,
            methods=["POST"],
            response_model=AgentResponseModel,
            responses={**STREAMED, **problems(401, 403, 404, 413, 422, 429, 503, 504)},
            summary="Ask, and wait for the answer",
        )
        router.add_api_route(
            "/chat/stream",
            self.stream,
            methods=["POST"],
            response_class=EventSourceResponse,
            responses={**STREAM, **problems(401, 403, 404, 413, 422, 429, 503)},
            summary="Ask, and hear the answer as it is written",
        )
        return router

    async def run(self, body: ChatBody, request: Request, caller: CallerOf) -> Response:
        asked = await self._ask(body, request, caller)
        if body.stream:
            return self._stream(asked)
        whole = replace(asked, in_one_piece=True)
        async with aclosing(self._asking.events(whole)) as events:
            async for event in events:
                if isinstance(event, Final):
                    return Response(event.document, media_type="application/json")
        raise AssertionError("events end with the answer or a problem")

    async def stream(self, body: ChatBody, request: Request, caller: CallerOf) -> Response:
        return self._stream(await self._ask(body, request, caller))

    async def _ask(self, body: ChatBody, request: Request, caller: Caller) -> Asked:
        return await accepted(
            self._asking.ask(
                body,
                caller,
                last_event=request.headers.get("last-event-id", ""),
                locale=locale_of(request.headers.get("accept-language", "")),
            )
        )

    def _stream(self, asked: Asked) -> Response:
        return EventSourceResponse(guarded_stream(self._sent(asked)), ping=PING_SECONDS)

    async def _sent(self, asked: Asked) -> AsyncGenerator[ServerSentEvent, None]:
        async with aclosing(self._asking.events(asked)) as events:
            async for event in events:
                yield sent(event, self._asking.event_id(asked, event))


async def accepted(asking: Awaitable[Result]) -> Result:
    """What came of a question that is handed in; a database that fails says so in a sentence."""
    try:
        return await asking
    except StorageFull as error:
        raise unavailable(
            "The question was not accepted: there is no space left for the database."
            " Once the operator has freed some, ask again."
        ) from error
    except (DeskFull, StorageError) as error:
        raise unavailable("The question was not accepted. Ask again in a moment.") from error


async def guarded_stream(
    stream: AsyncGenerator[ServerSentEvent, None],
) -> AsyncIterator[ServerSentEvent]:
    """The events as they leave; whatever happens, one `final` or `error` ends them."""
    try:
        async with aclosing(stream) as events:
            async for event in events:
                yield event
    except Exception as error:  # noqa: BLE001 - the status line has left: this is the last door
        log.error("stream failed", extra={"cause": type(error).__name__, "at": place_of(error)})
        yield ServerSentEvent(json.dumps(problem_of(error).document()), event="error")


def sent(event: HubEvent, event_id: str) -> ServerSentEvent:
    if isinstance(event, Final):
        return ServerSentEvent(event.document, event="final", id=event_id)
    data: dict[str, Any]
    if isinstance(event, Stage):
        name, data = "stage", {"state": event.state.value, "detail": event.detail}
    else:
        name, data = "text", {"delta": event.delta, "restart": event.restart}
    return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name, id=event_id)


def locale_of(accepted: str) -> str:
    """The first language that a browser asks for."""
    first = accepted.partition(",")[0].partition(";")[0].partition("-")[0].strip().lower()
    return first if first.isascii() and first.isalpha() and len(first) in {2, 3} else "en"
