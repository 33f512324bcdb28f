"""Visits to the web door: in-process, or over a real socket of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx

from adapters.web.app import create_app
from adapters.web.config import WebConfig, local_api_key, parse_api_keys
from adapters.web.door import create_door
from adapters.web.server import serve
from tests.fakes.web_house import House

KEYS = (
    "ask-key-1,ask-key-2,read-key-1:read,admin-key-1:admin:course|staff,staff-key-1:read:staff,"
    "house-key-1:admin"
)


LOCAL_KEY = "local-key-of-a-data-folder-0123456789abcdef"


def a_config(**changes: Any) -> WebConfig:
    """Without API keys: the local key opens the door."""
    usual = {
        "poll_seconds": 0.02,
        "wait_seconds": 5.0,
        "wrong_key_seconds": 0.02,
        "local_key": local_api_key(LOCAL_KEY),
    }
    return WebConfig(**(usual | changes))


def with_keys(text: str = KEYS, **changes: Any) -> WebConfig:
    return a_config(api_keys=parse_api_keys(text), local_key=None, **changes)


def bearer(config: WebConfig, key: str | None) -> dict[str, str]:
    if key is None and config.local_key is not None:
        key = config.local_key.secret
    return {"Authorization": f"Bearer {key}"} if key else {}


async def sign_in(client: httpx.AsyncClient, key: str = "ask-key-1") -> httpx.Response:
    """As a browser does; the session's cookie stays with the client."""
    return await client.post("/sign-in", data={"key": key})


async def csrf_token(client: httpx.AsyncClient) -> str:
    """The token that our page hands to its own requests."""
    return (await client.get("/")).text.split('data-csrf="')[1].split('"')[0]


@contextlib.asynccontextmanager
async def visiting(
    house: House,
    config: WebConfig | None = None,
    *,
    key: str | None = None,
    address: str = "127.0.0.1",
    host: str = "127.0.0.1:8080",
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the door, from some address, with a key.

    None: the local key where it opens the door, and none where API keys do; "": none."""
    config = config or a_config()
    app = create_app(house.parts(), config)
    transport = httpx.ASGITransport(app=app, client=(address, 50_000))
    headers = bearer(config, key)
    async with httpx.AsyncClient(
        transport=transport, base_url=f"http://{host}", headers=headers
    ) as client:
        yield client


@contextlib.asynccontextmanager
async def at_the_private_door(house: House) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=create_door(house.parts(), a_config()))
    async with httpx.AsyncClient(transport=transport, base_url="http://footnote") as client:
        yield client


@contextlib.asynccontextmanager
async def served(house: House, config: WebConfig | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """A client over a real socket, so that streams arrive piece by piece."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        config = config or a_config()
        serving = asyncio.create_task(serve(create_app(house.parts(), config), listener))
        base = f"http://127.0.0.1:{port}"
        headers = bearer(config, None)
        try:
            async with httpx.AsyncClient(base_url=base, timeout=10, headers=headers) as client:
                yield client
        finally:
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving


def every_route(config: WebConfig) -> list[tuple[str, frozenset[str]]]:
    """Each address of the door as it is written in the code, with the methods that it takes."""
    nobody: Any = object()  # nothing is asked of it
    parts = replace(House().parts(), staffing=nobody, writing=nobody)
    return list(addresses_of(create_app(parts, config).routes))


def addresses_of(routes: Iterable[Any]) -> Iterator[tuple[str, frozenset[str]]]:
    for route in routes:
        if included := getattr(route, "original_router", None):
            yield from addresses_of(included.routes)
        elif methods := getattr(route, "methods", None):
            yield route.path, frozenset(methods)


@dataclass(frozen=True)
class Event:
    """One server-sent event."""

    name: str
    data: Any
    id: str


def events_of(text: str) -> list[Event]:
    blocks = text.replace("\r\n", "\n").split("\n\n")
    return [event for block in blocks if (event := event_of(block.split("\n"))) is not None]


def event_of(lines: list[str]) -> Event | None:
    fields = dict(line.split(": ", 1) for line in lines if ": " in line and line[0] != ":")
    if "data" not in fields:
        return None
    return Event(fields["event"], json.loads(fields["data"]), fields.get("id", ""))


async def heard(response: httpx.Response, *, until: str) -> list[Event]:
    """The events of a stream, up to and with the first of this name."""
    events: list[Event] = []
    async for event in hearing(response):
        events.append(event)
        if event.name == until:
            break
    return events


async def hearing(response: httpx.Response) -> AsyncIterator[Event]:
    """Each event of a stream when it arrives."""
    block: list[str] = []
    async for line in response.aiter_lines():
        block.append(line)
        if not line:
            event, block = event_of(block), []
            if event is not None:
                yield event
