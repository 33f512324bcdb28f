"""One door to Slack's Web API: its refusals and silences become our errors here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calling.vendor_log import vendor_log
from adapters.slack.config import SlackConfig
from rag_core.errors import PlaceRefused, UpstreamError, UpstreamRejected, UpstreamUnavailable

SERVICE = "slack"
UNSURE = frozenset({"fatal_error", "internal_error"})
"""Slack says of these that some of it may have been done."""
LATER = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
BUSY = frozenset({"service_unavailable", "team_added_to_org", "request_timeout"})
"""Refused for now, without a word on when."""
TOKEN_REFUSED = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "not_allowed_token_type",
        "not_authed",
        "token_expired",
        "token_revoked",
    }
)
CHANNEL_CLOSED = frozenset(
    {
        "access_denied",
        "channel_not_found",
        "is_archived",
        "no_permission",
        "not_in_channel",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "restricted_action_thread_only_channel",
    }
)
"""The channel takes nothing from us, in whatever form; its asker may be reached elsewhere."""
OF_THE_PLACE = (
    CHANNEL_CLOSED
    | TOKEN_REFUSED
    | {
        "cannot_dm_bot",
        "cannot_reply_to_message",
        "messages_tab_disabled",
        "team_access_not_granted",
        "thread_not_found",
    }
)
PAUSE_UNTOLD, LONGEST_PAUSE = 1.0, 3_600.0
"""Seconds; Slack tells no longer ones."""


@asynccontextmanager
async def open_client(config: SlackConfig) -> AsyncIterator[AsyncWebClient]:
    """The client of the one workspace, or one without a token that others are made from."""
    timeout = aiohttp.ClientTimeout(total=config.request_seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        yield client_on(session, base_url=config.api_base, token=config.bot_token or None)


def client_on(
    session: aiohttp.ClientSession, *, base_url: str, token: str | None
) -> AsyncWebClient:
    """A client of the Web API, which never repeats a call by itself.

    Its own repeats after a broken connection would post a message twice: whether a call is
    repeated is decided by who knows what a repeat does."""
    return AsyncWebClient(
        token=token, base_url=base_url, session=session, retry_handlers=[], logger=vendor_log()
    )


@contextmanager
def slack_errors() -> Iterator[None]:
    """A clear refusal or an answer that never came, told apart."""
    try:
        yield
    except SlackApiError as error:
        raise refusal(error) from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise UpstreamUnavailable(SERVICE, type(error).__name__) from error
    except AttributeError as error:
        # How the library takes an answer that is no object; any other one is a defect of ours.
        if error.name != "get" or not isinstance(error.obj, str | list | int | float):
            raise
        raise UpstreamUnavailable(SERVICE, "an answer that is not Slack's") from error


def refusal(error: SlackApiError) -> UpstreamError:
    """Our word for Slack's."""
    name, status = error_name(error), getattr(error.response, "status_code", 0)
    if status == 429 or name in LATER:
        return UpstreamRejected(SERVICE, "ratelimited", retryable=True, retry_after=_pause(error))
    if status == 404 and not name:
        return UpstreamRejected(SERVICE, "unknown_method")
    if name in BUSY:
        return UpstreamRejected(SERVICE, name, retryable=True)
    if not name or name in UNSURE or status >= 500:
        return UpstreamUnavailable(SERVICE, name or "no usable answer")
    return (PlaceRefused if name in OF_THE_PLACE else UpstreamRejected)(SERVICE, name)


def error_name(error: SlackApiError) -> str:
    """Slack's name for what it refused; empty where the answer was not Slack's."""
    data = getattr(error.response, "data", None)
    return str(data.get("error", "")) if isinstance(data, dict) else ""


def told(answer: Any, name: str) -> str:
    """What an answer must say to be of use; without it nobody knows what was done."""
    data = getattr(answer, "data", answer)  # of the library's own answers
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, str) or not value:
        raise UpstreamUnavailable(SERVICE, "an answer that is not Slack's")
    return value


def _pause(error: SlackApiError) -> float:
    try:
        told = float(error.response.headers.get("Retry-After", PAUSE_UNTOLD))
    except ValueError:
        return PAUSE_UNTOLD
    return told if 0.0 <= told <= LONGEST_PAUSE else PAUSE_UNTOLD
