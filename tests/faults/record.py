"""What happened in a run: what people sent, what they were shown, what the database holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Place = tuple[str, str, str]
"""Platform, channel and thread."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A message that somebody wrote."""

    message_id: str
    place: Place
    canary: str
    asks: bool = True
    """Whether it is a question to the bot."""
    withdrawn: bool = False


@dataclass(frozen=True, kw_only=True)
class Posted:
    """A message of the bot, as it stands there; `key` names the part that it is."""

    key: str
    place: Place


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A question as the database holds it."""

    question_id: str
    message_id: str
    place: Place
    canary: str
    ended: bool
    parts: int
    answers: int
    """The canaries that the stored turn speaks of."""
    said: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Record:
    """One run, in the order of events."""

    sent: list[Sent] = field(default_factory=list)
    posted: list[Posted] = field(default_factory=list)
    stored: list[Stored] = field(default_factory=list)
    prompts: Sequence[tuple[str, ...]] = ()
    """The canaries in each request to the model."""
