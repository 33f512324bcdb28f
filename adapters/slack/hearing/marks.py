"""How far each known conversation was heard, so that what comes while we are away is found."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
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
    """The last message heard in each channel, and in each thread that we were asked in, those that
    were not read for longest first."""

    channels: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    """Of each channel: public, private or direct, as its events say."""
    threads: dict[str, str] = field(default_factory=dict)
    """By channel and head, as in `C1 1790000000.000001`."""
    alive_at: float = 0.0
    """When somebody was last there to listen."""

    def copy(self) -> Marks:
        return Marks(dict(self.channels), dict(self.kinds), dict(self.threads), self.alive_at)

    def add(self, later: Marks) -> None:
        """What was heard since."""
        for own, new in ((self.channels, later.channels), (self.threads, later.threads)):
            for place, mark in new.items():
                own[place] = max(mark, own.get(place, ""))
        self.kinds |= later.kinds

    def put_last(self, place: str) -> None:
        """It was read just now: the others are read before it the next time."""
        places = self.threads if is_thread(place) else self.channels
        if place in places:
            places[place] = places.pop(place)

    def trim(self) -> None:
        """Keep the places that were heard last."""
        for places, most in ((self.channels, MOST_CHANNELS), (self.threads, MOST_THREADS)):
            for place in sorted(places, key=places.__getitem__)[:-most]:
                del places[place]
        self.kinds = {name: kind for name, kind in self.kinds.items() if name in self.channels}


@dataclass(frozen=True, slots=True)
class Gap:
    """A place of which not everything was heard, and from where on."""

    since: str
    connection: int
    """The last one that left it behind: who has read for an earlier one has not read it all."""


class MarkKeeper:
    """Notes what was heard, in memory at once and in the database in a while.

    What was missed is a gap, one a place. As long as it is not read, the place's stored mark stays
    where the gap begins, however much is heard live after it; so a process that ends at any moment
    leaves to the next one what it had not read. A mark that is too old costs a second look and
    nothing else: questions are accepted once."""

    def __init__(self, markers: MarkerStore) -> None:
        self._markers = markers
        self._now = Marks()
        self._gaps: dict[str, Gap] = {}
        """By channel, or by channel and head of a thread."""
        self._away_since: float | None = None
        """Edits and deletions since then were not looked for yet."""
        self._connections = 0
        self._unheard: dict[tuple[str, str], None] = {}
        """Messages that could not be written down: no mark goes past them."""
        self._loaded_for = ""
        self._changed = False

    async def open_gaps(self, team_id: str) -> None:
        """Events come again from now on: every known place may have missed some before. At the
        first time that is since what the last process left behind."""
        if self._loaded_for != team_id:
            stored = marks_from(await self._markers.get(_name(team_id)))
            self._loaded_for = team_id
            live, self._now = self._now, stored.copy()
            self._now.add(live)
        else:
            stored = self._stored()
        self._connections += 1
        for place, mark in (stored.channels | stored.threads).items():
            self._gaps[place] = Gap(mark, self._connections)
        if self._away_since is None:
            self._away_since = stored.alive_at

    def gaps(self, *, threads: bool) -> Mapping[str, Gap]:
        """What is to be read, of channels or of threads: first what was not read for longest.

        Slack lets a reader look at fifty places a minute, so one that is stopped often would
        otherwise never come to the last ones."""
        return {place: gap for place, gap in self._gaps.items() if is_thread(place) is threads}

    def kind_of(self, channel: str) -> str:
        return self._now.kinds.get(channel, "")

    @property
    def kinds(self) -> Mapping[str, str]:
        return dict(self._now.kinds)

    @property
    def away_since(self) -> float:
        """0: never before, or all is looked at."""
        return self._away_since or 0.0

    @property
    def connection(self) -> int:
        return self._connections

    def found_thread(self, channel: str, head: str, *, since: str) -> None:
        """A thread below a message that was missed; said before the channel is read past it."""
        self._gaps.setdefault(f"{channel} {head}", Gap(since, self._connections))

    def has_read(self, place: str, ts: str) -> None:
        """Everything in this place up to this message."""
        gap = self._gaps.get(place)
        if gap is not None and is_timestamp(ts):
            self._gaps[place] = replace(gap, since=max(ts, gap.since))
            self._changed = True

    def close_gap(self, place: str, gap: Gap) -> None:
        """This gap is read, unless another connection has left it open again meanwhile."""
        if (now := self._gaps.get(place)) and now.connection == gap.connection:
            del self._gaps[place]
            self._now.put_last(place)
            self._changed = True

    def has_looked(self, *, connection: int) -> None:
        """Edits and deletions were looked for, unless some were missed again meanwhile."""
        if connection == self._connections:
            self._away_since = None

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
        if not is_due or not self._loaded_for:
            return
        self._changed, self._now.alive_at = False, now
        self._now.trim()
        try:
            await self._markers.set(_name(self._loaded_for), to_json(self._stored()))
        except StorageError as error:
            self._changed = True
            log.warning("marks were not stored", extra={"cause": str(error)})

    def _stored(self) -> Marks:
        """The marks as the next process may trust them."""
        kept = self._now.copy()
        for place, gap in self._gaps.items():
            (kept.threads if is_thread(place) else kept.channels)[place] = gap.since
        for channel, ts in self._unheard:
            kept.channels[channel] = min(kept.channels.get(channel, ts), before(ts))
        if self._away_since is not None:
            kept.alive_at = self._away_since
        return kept


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


def is_thread(place: str) -> bool:
    return " " in place


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
