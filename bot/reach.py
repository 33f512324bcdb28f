"""Reaches the house from a command: the running bot's, or one opened for the occasion."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from bot.door import door_address, own_folder
from bot.settings import Settings
from rag_core.errors import FootnoteError, InvalidQuestion, StorageError

BASE = "http://footnote"
HTTP_ABSENT, HTTP_INVALID = 404, 422


@contextlib.asynccontextmanager
async def reach(settings: Settings) -> AsyncIterator[House]:
    """The door of the bot that works in the data folder; without one, this process becomes it."""
    folder = own_folder(settings.data_dir)
    async with contextlib.AsyncExitStack() as stack:
        address = door_address(folder)
        if address is None:
            from bot.supervisor import open_house

            address = await stack.enter_async_context(open_house(settings))
        yield await stack.enter_async_context(knock(address))


@contextlib.asynccontextmanager
async def knock(address: Path) -> AsyncIterator[House]:
    transport = httpx.AsyncHTTPTransport(uds=str(address))
    client = httpx.AsyncClient(
        transport=transport,
        base_url=BASE,
        timeout=None,  # noqa: S113 - a book may take an hour; the bot bounds what it does
    )
    async with client:
        yield House(client)


class House:
    """The private door, in JSON documents; a problem becomes an error."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def get(self, path: str) -> Any:
        return await self._document("GET", path, None)

    async def text(self, path: str) -> str:
        """A document that is not JSON."""
        return (await self._answer("GET", path, None)).text

    async def post(self, path: str, body: object) -> Any:
        return await self._document("POST", path, body)

    async def put(self, path: str, body: object) -> Any:
        return await self._document("PUT", path, body)

    async def stream(self, path: str, body: object) -> AsyncIterator[tuple[str, Any]]:
        """The events of a stream, each with its document; one `final` or `error` ends it."""
        try:
            async with self._client.stream("POST", path, json=body) as answer:
                if answer.is_error:
                    raise problem(json.loads(await answer.aread()))
                name = ""
                async for line in answer.aiter_lines():
                    field, _, value = line.partition(": ")
                    if field == "event":
                        name = value
                    elif field == "data":
                        yield name, json.loads(value)
        except httpx.TransportError:
            raise gone() from None

    async def delete(self, path: str) -> Any:
        return await self._document("DELETE", path, None)

    async def _document(self, method: str, path: str, body: object) -> Any:
        return (await self._answer(method, path, body)).json()

    async def _answer(self, method: str, path: str, body: object) -> httpx.Response:
        try:
            answer = await self._client.request(method, path, json=body)
        except httpx.TransportError:
            raise gone() from None
        if answer.is_error:
            raise problem(answer.json())
        return answer


def gone() -> StorageError:
    return StorageError("The bot that works in the data folder went away; try again.")


def problem(document: dict[str, Any]) -> FootnoteError:
    """The error that a problem document tells of."""
    errors = document.get("errors")
    if errors and errors[0]["field"] == "book_ids" and document.get("status") == HTTP_ABSENT:
        return InvalidQuestion("book", "There is no such book; `footnote books` lists them.")
    if document.get("status") == HTTP_INVALID and errors:
        return InvalidQuestion(errors[0]["field"], " ".join(error["message"] for error in errors))
    return FootnoteError(document.get("detail") or document.get("title") or "no reason given")
