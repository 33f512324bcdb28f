"""What Discord's refusals and silences mean to the house."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import aiohttp
import discord

from rag_core.errors import PlaceRefused, UpstreamRejected, UpstreamUnavailable

SERVICE = "discord"
TOO_MANY = 429
LONGEST_SLOW_MODE = 60.0
"""Whoever would have to wait longer between two messages answers in private."""
NOT_YET = 40058
"""A forum post cannot be written to before its first message is there."""
THREAD_IS_THERE = 160004
UNKNOWN_CHANNEL = 10003
UNKNOWN_MEMBER = 10007
UNKNOWN_MESSAGE = 10008
GONE = frozenset({UNKNOWN_CHANNEL, UNKNOWN_MESSAGE})
SLOW_MODE = 20016
FORBIDDEN = frozenset({UNKNOWN_CHANNEL, 10004, 50001, 50007, 50013, 50083, 50278, 160005})
"""Gone, not allowed, closed to us, archived, locked: what is sent there meets the same answer."""
NOT_US = 401
"""The token is not good any more."""
ACKNOWLEDGED = 40060
"""An interaction takes one acknowledgement."""
UNREADABLE = (AttributeError, LookupError, RecursionError, TypeError, ValueError, zlib.error)
"""What the library raises over an answer or an event of another shape than Discord's."""
TOKEN_IS_OVER = frozenset({10008, 10015, 10062, 50027})
"""Answers to an interaction cannot be written by its token any more, or never could."""


class DiscordRefused(UpstreamRejected):
    """A clear no from Discord, with the code that says which."""

    def __init__(
        self, status: int, code: int, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(
            SERVICE, f"{status}, code {code}", retryable=retryable, retry_after=retry_after
        )
        self.code = code

    @property
    def is_final(self) -> bool:
        """Whether this place takes nothing from us for a while."""
        slow = self.code == SLOW_MODE and (self.retry_after or 0.0) > LONGEST_SLOW_MODE
        return self.code in FORBIDDEN or slow


class DiscordPlaceRefused(DiscordRefused, PlaceRefused):
    """No form of a message is taken there."""


@dataclass(slots=True)
class Exchange:
    """Whether Discord has answered within the block that this belongs to."""

    is_answered: bool = False


exchange: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


def note_answer() -> None:
    """Called for every answer, before anybody reads it."""
    if (current := exchange.get()) is not None:
        current.is_answered = True


@contextmanager
def discord_errors() -> Iterator[None]:
    """Turn the library's errors into ours; none of them carries what a message said.

    What cannot be read is Discord's fault once it has answered. Before that there was nothing to
    read, and the same kinds of errors are defects of our own: they are raised as they are."""
    current = Exchange()
    token = exchange.set(current)
    try:
        yield
    except discord.RateLimited as error:
        raise DiscordRefused(TOO_MANY, 0, retryable=True, retry_after=error.retry_after) from error
    except discord.DiscordServerError as error:
        raise UpstreamUnavailable(SERVICE, f"status {error.status}") from error
    except discord.HTTPException as error:
        raise refused(error) from error
    except (aiohttp.ClientError, OSError) as error:
        raise UpstreamUnavailable(SERVICE, type(error).__name__) from error
    except UNREADABLE as error:
        if not current.is_answered:
            raise
        raise UpstreamUnavailable(SERVICE, "unreadable answer") from error
    finally:
        exchange.reset(token)


def refused(error: discord.HTTPException) -> DiscordRefused:
    limited = error.status == TOO_MANY
    of_place = error.code in FORBIDDEN or error.status == NOT_US
    return (DiscordPlaceRefused if of_place else DiscordRefused)(
        error.status,
        error.code,
        retryable=limited or error.code in {NOT_YET, SLOW_MODE},
        retry_after=retry_after(error) if limited or error.code == SLOW_MODE else None,
    )


def retry_after(error: discord.HTTPException) -> float | None:
    """How long the answer asks to wait, where it says so."""
    return seconds_told(error.response.headers)


def seconds_told(headers: Mapping[str, str]) -> float | None:
    told = headers.get("Retry-After", "")
    return float(told) if told.replace(".", "", 1).isdigit() else None
