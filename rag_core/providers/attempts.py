"""Calls to a service, tried again where that may help."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from rag_core.errors import UpstreamError
from rag_core.providers.retries import Retries

T = TypeVar("T")


async def attempted(call: Callable[[], Awaitable[T]], retries: Retries) -> T:
    """The call's answer; it raises our errors only, and doing it twice does no harm."""
    started = time.monotonic()
    attempt = 0
    while True:
        attempt += 1
        try:
            return await call()
        except UpstreamError as error:
            elapsed = time.monotonic() - started
            pause = retries.pause(error, attempt=attempt, elapsed=elapsed)
            if pause is None:
                raise
        await asyncio.sleep(pause)


async def together(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All answers in order; when one call fails the others end, and its error is the one."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from errors
    return [task.result() for task in tasks]
