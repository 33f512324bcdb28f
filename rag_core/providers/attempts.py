"""Calls to a service, tried again where that may help, within one deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from rag_core.errors import UpstreamError, UpstreamUnavailable
from rag_core.providers.retries import Breaker, Retries

T = TypeVar("T")


async def attempted(
    service: str,
    call: Callable[[], Awaitable[T]],
    retries: Retries,
    breaker: Breaker | None = None,
) -> T:
    """The call's answer; it raises our errors only, and doing it twice does no harm."""
    try:
        async with asyncio.timeout(retries.patience):
            return await persistent(call, retries, breaker)
    except TimeoutError as error:
        if breaker:
            breaker.failed()
        raise UpstreamUnavailable(service, "no answer in time") from error


async def persistent(
    call: Callable[[], Awaitable[T]], retries: Retries, breaker: Breaker | None
) -> T:
    started = time.monotonic()
    attempt = 0
    while True:
        attempt += 1
        try:
            return await heard(call, breaker)
        except UpstreamError as error:
            elapsed = time.monotonic() - started
            pause = retries.pause(error, attempt=attempt, elapsed=elapsed)
            if pause is None:
                raise
        await asyncio.sleep(pause)


async def heard(call: Callable[[], Awaitable[T]], breaker: Breaker | None) -> T:
    """One attempt; the breaker hears how it went. A clear refusal is no failure."""
    if breaker is None:
        return await call()
    await breaker.turn()
    try:
        answer = await call()
    except UpstreamUnavailable:
        breaker.failed()
        raise
    breaker.succeeded()
    return answer


async def together(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All answers in order; when one call fails the others end, and its error is the one."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from errors
    return [task.result() for task in tasks]
