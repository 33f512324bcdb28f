"""The connection to Cohere: opened and closed, its errors in our words."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass

import httpx
from cohere import AsyncClientV2
from cohere.core.api_error import ApiError
from cohere.core.parse_error import ParsingError

from rag_core.errors import UpstreamError, UpstreamRejected, UpstreamUnavailable

SERVICE = "cohere"
VENDOR_URL = "https://api.cohere.com/"
CONNECT_SECONDS = 10.0


@contextlib.asynccontextmanager
async def open_cohere(
    api_key: str, base_url: str | None, *, seconds: float
) -> AsyncIterator[AsyncClientV2]:
    """A client that makes one attempt a call; when to try again is decided here."""
    timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
    hooks = {"response": [note_answer]}
    async with httpx.AsyncClient(
        timeout=timeout, follow_redirects=False, event_hooks=hooks
    ) as http:
        yield AsyncClientV2(
            api_key=api_key,
            base_url=base_url or VENDOR_URL,
            timeout=seconds,
            max_retries=0,
            httpx_client=http,
        )


@dataclass(slots=True)
class Exchange:
    """Whether Cohere has answered within the block that this belongs to."""

    is_answered: bool = False


exchange: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


async def note_answer(_response: httpx.Response) -> None:
    if (current := exchange.get()) is not None:
        current.is_answered = True


@contextlib.contextmanager
def cohere_errors() -> Iterator[None]:
    """The vendor's errors as ours. What fails before there is an answer is a defect of our own."""
    current = Exchange()
    token = exchange.set(current)
    try:
        yield
    except httpx.HTTPError as error:
        raise UpstreamUnavailable(SERVICE) from error
    except (ApiError, ParsingError) as error:
        raise refusal(error) from error
    except (ValueError, TypeError, AttributeError) as error:
        # Answers are taken as they come by the vendor's models: a wrong shape shows on use.
        if not current.is_answered:
            raise
        raise UpstreamUnavailable(SERVICE, "an answer that cannot be read") from error
    finally:
        exchange.reset(token)


def refusal(error: ApiError | ParsingError) -> UpstreamError:
    """A status as the error that says what to do about it."""
    status = error.status_code or 0
    if status in {429, 503}:
        after = seconds_after(error)
        return UpstreamRejected(SERVICE, f"status {status}", retryable=True, retry_after=after)
    if status < 400:
        return UpstreamUnavailable(SERVICE, "an answer that cannot be read")
    if status >= 500 or status in {408, 409, 425, 499}:
        return UpstreamUnavailable(SERVICE, f"status {status}")
    return UpstreamRejected(SERVICE, f"status {status}")  # 498: the key has ended


def seconds_after(error: ApiError | ParsingError) -> float | None:
    """What the service asks us to wait, where it says so in seconds."""
    headers = httpx.Headers(error.headers or {})
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after"]))
    return None
