"""The connection to a Qdrant server: its errors in our words, its calls tried again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import httpx
from pydantic import ValidationError
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from rag_core.errors import UpstreamError, UpstreamRejected, UpstreamUnavailable
from rag_core.providers.attempts import attempted
from rag_core.providers.retries import Retries

T = TypeVar("T")

SERVICE = "qdrant"
CALL_SECONDS = 15
"""For one call; a server that is asked for nearest points answers in milliseconds."""
AT_ONCE = 16
"""Calls under way at the same time; more of them wait here, not in the server."""


class Connection:
    """The client, asked one idempotent call at a time: every call may be tried again."""

    def __init__(self, client: AsyncQdrantClient, *, retries: Retries) -> None:
        self.client = client
        self._retries = retries
        self._places = asyncio.Semaphore(AT_ONCE)

    async def ask(self, call: Callable[[AsyncQdrantClient], Awaitable[T]]) -> T:
        async def once() -> T:
            async with self._places:
                with qdrant_errors():
                    async with asyncio.timeout(CALL_SECONDS):
                        return await call(self.client)

        return await attempted(SERVICE, once, self._retries)


@asynccontextmanager
async def connected(
    url: str, api_key: str | None, retries: Retries | None
) -> AsyncIterator[Connection]:
    client = AsyncQdrantClient(
        url=url,
        # As a header: the client would warn of a key on loopback, and the settings see to the rest.
        headers={"api-key": api_key} if api_key else None,
        timeout=CALL_SECONDS,
        check_compatibility=False,  # it asks in a thread of its own and prints a warning
    )
    try:
        yield Connection(client, retries=retries or Retries(patience=CALL_SECONDS * 2))
    finally:
        await client.close()


@contextmanager
def qdrant_errors() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise UpstreamUnavailable(SERVICE, "no answer in time") from error
    except ResponseHandlingException as error:
        # The client says this of everything: no answer, one that cannot be read, defects of ours.
        if not isinstance(error.source, httpx.HTTPError | OSError | ValidationError):
            raise error.source from error
        raise UpstreamUnavailable(SERVICE) from error
    except ResourceExhaustedResponse as error:
        raise too_many(float(error.retry_after_s)) from error
    except UnexpectedResponse as error:
        raise refusal(error.status_code or 0) from error
    except (QdrantException, ApiException) as error:  # a 429 whose Retry-After is no number
        raise too_many(None) from error


def refusal(status: int) -> UpstreamError:
    if status == 429:
        return too_many(None)
    if status >= 500 or status in {0, 408}:
        return UpstreamUnavailable(SERVICE, f"status {status}")
    return Refused(status)


def too_many(retry_after: float | None) -> UpstreamRejected:
    return UpstreamRejected(SERVICE, "status 429", retryable=True, retry_after=retry_after)


class Refused(UpstreamRejected):
    """A clear refusal, with the status that says why."""

    def __init__(self, status: int) -> None:
        super().__init__(SERVICE, f"status {status}")
        self.status = status
