"""The connection to Cohere: opened and closed, its errors in our words."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator

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
    async with httpx.AsyncClient(timeout=timeout, follow_redirects=False) as http:
        yield AsyncClientV2(
            api_key=api_key,
            base_url=base_url or VENDOR_URL,
            timeout=seconds,
            max_retries=0,
            httpx_client=http,
        )


@contextlib.contextmanager
def cohere_errors() -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        raise UpstreamUnavailable(SERVICE) from error
    except (ApiError, ParsingError) as error:
        raise refusal(error) from error
    except (ValueError, TypeError, AttributeError) as error:
        # Answers are taken as they come by the vendor's models: a wrong shape shows on use.
        raise UpstreamUnavailable(SERVICE, "an answer that cannot be read") from error


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
