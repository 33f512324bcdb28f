"""How far each known conversation was heard, so that what comes while we are away is found."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from time import time
from typing import Any

from adapters.slack.hearing.events import CHANNEL_TYPE, word
from adapters.slack.installing.teams import Teams
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import StorageError
from rag_core.ports import MarkerStore

log = logging.getLogger(__name__)

MOST_CHANNELS, MOST_THREADS = 500, 200
ALIVE_SECONDS = 30.0
"""How often it is noted that somebody listens, where nothing is said."""


@dataclass(slots=True)
class Marks:
    """The last message heard in each channel, and in each thread that we were asked in."""

    channels: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    """Of each channel: public, private or direct, as its events say."""
    threads: dict[str, str] = field(default_factory=dict)
    """By channel and head, as in `C1 1790000000.000001`."""
    alive_at: float = 0.0
    """When somebody was last there to listen."""

    def copy(self) -> Marks:
        return Marks(dict(self.channels), dict(self.kinds), dict(self.threads), self.alive_at)

    def trim(self) -> None:
        """Keep the places that were heard last."""
        for places, most in ((self.channels, MOST_CHANNELS), (self.threads, MOST_THREADS)):
            for place in sorted(places, key=places.__getitem__)[:-most]:
                del places[place]
        self.kinds = {name: kind for name, kind in self.kinds.items() if name in self.channels}


class MarkKeeper:
    """Notes what was heard, in memory at once and in the database in a while.

    A mark that is too old costs a second look and nothing else: questions are accepted once."""

    def __init__(self, markers: MarkerStore) -> None:
        self._markers = markers
        self._now = Marks()
        self._unheard: dict[tuple[str, str], None] = {}
        """Messages that could not be written down: no mark goes past them."""
        self._loaded_for = ""
        self._changed = False
        self.is_behind = False
        """While what was missed is still read, what is stored must not move past it."""

    async def snapshot(self, team_id: str) -> Marks:
        """The marks as they are, at the first time as the last process left them."""
        if self._loaded_for == team_id:
            return self._now.copy()
        stored = marks_from(await self._markers.get(_name(team_id)))
        self._loaded_for = team_id
        before = stored.copy()
        stored.channels |= self._now.channels
        stored.kinds |= self._now.kinds
        stored.threads |= self._now.threads
        self._now = stored
        return before

    def heard(self, body: Mapping[str, Any]) -> None:
        event = body.get("event")
        if not isinstance(event, Mapping):
            return
        channel, ts = word(event, "channel"), word(event, "ts")
        if not is_timestamp(ts) or not channel or word(event, "subtype") == "message_changed":
            return
        self._unheard.pop((channel, ts), None)
        self._now.channels[channel] = max(ts, self._now.channels.get(channel, ""))
        if kind := word(event, CHANNEL_TYPE):
            self._now.kinds[channel] = kind
        thread = f"{channel} {word(event, 'thread_ts')}"
        if thread in self._now.threads:
            self._now.threads[thread] = max(ts, self._now.threads[thread])
        self._changed = True

    def unheard(self, body: Mapping[str, Any]) -> None:
        event = body.get("event")
        if isinstance(event, Mapping) and is_timestamp(word(event, "ts")):
            self._unheard[word(event, "channel"), word(event, "ts")] = None

    def asked(self, question: IncomingQuestion) -> None:
        thread = f"{question.key.channel_id} {question.key.thread_id}"
        if not question.private:
            known = self._now.threads.get(thread, "")
            self._now.threads[thread] = max(question.message_id, known)
            self._changed = True

    async def save(self) -> None:
        now = time()
        is_due = self._changed or now - self._now.alive_at > ALIVE_SECONDS
        if not is_due or self.is_behind or not self._loaded_for:
            return
        self._changed, self._now.alive_at = False, now
        self._now.trim()
        kept = self._now.copy()
        for channel, ts in self._unheard:
            kept.channels[channel] = min(kept.channels.get(channel, ts), before(ts))
        try:
            await self._markers.set(_name(self._loaded_for), to_json(kept))
        except StorageError as error:
            self._changed = True
            log.warning("marks were not stored", extra={"cause": str(error)})


class MarkKeepers:
    """The marks of each workspace, kept apart."""

    def __init__(self, markers: MarkerStore, teams: Teams) -> None:
        self._markers = markers
        self._teams = teams
        self._keepers: dict[str, MarkKeeper] = {}

    def of(self, team_id: str) -> MarkKeeper:
        """UpstreamError where the app is not installed, or not any more."""
        own = self._teams.of(team_id).workspace.team_id
        return self._keepers.setdefault(own, MarkKeeper(self._markers))

    def asked(self, question: IncomingQuestion) -> None:
        self.of(question.key.tenant).asked(question)


def is_timestamp(ts: str) -> bool:
    whole, _, rest = ts.partition(".")
    return len(whole) == 10 and whole.isdecimal() and rest.isdecimal()


def before(ts: str) -> str:
    """The moment just before a message."""
    return f"{float(ts) - 0.000001:.6f}"


def marks_from(text: str | None) -> Marks:
    """As stored; nothing known where there is nothing."""
    stored = json.loads(text) if text else {}
    return Marks(**stored)


def to_json(marks: Marks) -> str:
    return json.dumps(asdict(marks))


def _name(team_id: str) -> str:
    return f"slack:heard:{team_id}"
