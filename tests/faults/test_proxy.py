"""The way on which connections fail: each trouble is what it says, and the seed decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.faults.proxy import FaultProxy, Weather, fault_proxy

WORDS = b"all is well " * 400


@asynccontextmanager
async def through(weather: Weather, *, seed: int = 1) -> AsyncIterator[FaultProxy]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(WORDS)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    async with fault_proxy(host, port, seed=seed, weather=weather) as proxy:
        yield proxy
    server.close()


async def asked(proxy: FaultProxy) -> bytes:
    host, _, port = proxy.address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(b"how are you?\n")
        async with asyncio.timeout(2):
            return await reader.read(-1)
    finally:
        writer.close()


async def test_fair_weather_passes_everything_on() -> None:
    async with through(Weather()) as proxy:
        assert await asked(proxy) == WORDS


@pytest.mark.parametrize("weather", [Weather(refuse=1), Weather(reset=1), Weather(cut=1)])
async def test_a_broken_connection_breaks(weather: Weather) -> None:
    async with through(weather) as proxy:
        with pytest.raises(ConnectionResetError):
            await asked(proxy)


async def test_a_half_open_connection_says_nothing() -> None:
    async with through(Weather(half_open=1)) as proxy:
        host, _, port = proxy.address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"how are you?\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await reader.read(1)
        writer.close()


async def test_who_is_down_is_back_when_it_is_back() -> None:
    async with through(Weather()) as proxy:
        proxy.down = True
        with pytest.raises(ConnectionResetError):
            await asked(proxy)
        proxy.down = False
        assert await asked(proxy) == WORDS


async def test_the_same_seed_draws_the_same_fates() -> None:
    fates = []
    for _ in range(2):
        async with through(Weather(reset=0.5), seed=7) as proxy:
            drawn = []
            for _ in range(12):
                try:
                    drawn.append(await asked(proxy) == WORDS)
                except ConnectionResetError:
                    drawn.append(False)
            fates.append(drawn)
    assert fates[0] == fates[1]
    assert 0 < sum(fates[0]) < 12
