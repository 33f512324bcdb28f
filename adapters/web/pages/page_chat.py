"""What the chat page asks besides HTTP: answers as written HTML, and questions changed."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from adapters.web.config import WebConfig
from adapters.web.documents.bodies import ChatBody, uuid_of
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import not_found
from adapters.web.pages.markdown import parsed, rendered
from adapters.web.parts import WebParts
from adapters.web.reply import Final, HubEvent, Stage, Text
from adapters.web.routes.asking import Asked, Asking
from adapters.web.routes.chat import PING_SECONDS, accepted, guarded_stream, locale_of, sent
from adapters.web.routes.reading import Reading
from rag_core.conversation.key import LOCAL_TENANT
from rag_core.desk.incoming import MessageIdentity

MESSAGE_ID = re.compile(r"[0-9a-f]{32}")
REDRAWN_SECONDS = 0.08
"""How often a growing answer is drawn anew; what comes meanwhile is drawn together."""


class PageChatRoutes:
    """The page's own stream, and edit, delete and ask again."""

    def __init__(self, parts: WebParts, config: WebConfig) -> None:
        self._parts = parts
        self._asking = Asking(
            parts,
            Reading(books=parts.books, library=parts.library),
            wait_seconds=config.wait_seconds,
            poll_seconds=config.poll_seconds,
            splits=True,
        )

    def router(self) -> APIRouter:
        router = APIRouter()
        router.add_api_route(
            "/page/stream", self.stream, methods=["POST"], response_class=EventSourceResponse
        )
        router.add_api_route("/page/questions/{message_id}", self.revise, methods=["PUT"])
        router.add_api_route("/page/questions/{message_id}", self.withdraw, methods=["DELETE"])
        router.add_api_route("/page/answers/{answer_id}/again", self.again, methods=["POST"])
        return router

    async def stream(self, body: ChatBody, request: Request, caller: CallerOf) -> Response:
        asked = await accepted(
            self._asking.ask(
                body,
                caller,
                last_event=request.headers.get("last-event-id", ""),
                locale=locale_of(request.headers.get("accept-language", "")),
            )
        )
        return EventSourceResponse(guarded_stream(self._drawn(asked)), ping=PING_SECONDS)

    async def revise(
        self, message_id: str, body: ChatBody, request: Request, caller: CallerOf
    ) -> Response:
        """Another text for a question of the caller's own; it is heard by streaming it again."""
        locale = locale_of(request.headers.get("accept-language", ""))
        known = checked_message(message_id)
        await accepted(self._asking.revise(body, caller, known, locale=locale))
        return Response(status_code=204)

    async def withdraw(self, message_id: str, caller: CallerOf) -> Response:
        identity = identity_of(caller, checked_message(message_id))
        if not await self._parts.desk.withdraw(identity, asker_id=caller.owner):
            raise not_found("question")
        self._parts.replies.forget_question(identity)
        return Response(status_code=204)

    async def again(self, answer_id: str, caller: CallerOf) -> Response:
        """Answer the same question anew, in its place."""
        known = uuid_of(answer_id)
        found = await self._parts.answers.answer(known) if known else None
        if known is None or found is None or not caller.owns(found[1]):
            raise not_found("answer")
        asked = await self._parts.answers.asked_in(found[1])
        for question in asked:
            if question.response is not None and question.response.answer_id == known:
                self._parts.replies.forget_question(identity_of(caller, question.message_id))
        if not await self._parts.desk.ask_again(known, asker_id=caller.owner):
            raise not_found("answer")
        return Response(status_code=204)

    async def _drawn(self, asked: Asked) -> AsyncGenerator[ServerSentEvent, None]:
        text = ""
        async with aclosing(self._asking.batches(asked)) as batches:
            async for events in batches:
                is_over = isinstance(events[-1], Final)
                for event in events:
                    if isinstance(event, Stage):
                        yield sent(event, self._asking.event_id(asked, event))
                grown = grow(text, events)
                if grown != text:
                    yield drawn(grown)
                if is_over:
                    yield sent(events[-1], self._asking.event_id(asked, events[-1]))
                elif grown != text:
                    await asyncio.sleep(REDRAWN_SECONDS)
                text = grown


def drawn(text: str) -> ServerSentEvent:
    """The answer so far, as the page shows it."""
    html = rendered(parsed(text))
    return ServerSentEvent(json.dumps({"html": html}, ensure_ascii=False), event="prose")


def grow(text: str, events: Sequence[HubEvent]) -> str:
    """The answer so far, with what came."""
    for event in events:
        if isinstance(event, Text):
            text = event.delta if event.restart else text + event.delta
    return text


def checked_message(message_id: str) -> str:
    if not MESSAGE_ID.fullmatch(message_id):
        raise not_found("question")
    return message_id


def identity_of(caller: Caller, message_id: str) -> MessageIdentity:
    """A message of the caller's own: nobody can name another's."""
    return MessageIdentity(
        platform=caller.platform.value,
        tenant=LOCAL_TENANT,
        channel_id=caller.owner,
        message_id=message_id,
    )
