"""Reads what was said while the bot was away, from the marks on, within Slack's limits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from time import time
from types import TracebackType
from typing import Any, Self

from adapters.asked_lately import KnowsAskedLately
from adapters.slack.calling.team import Team
from adapters.slack.hearing.events import CHANNEL_TYPE, word
from adapters.slack.hearing.marks import Gap, MarkKeeper
from adapters.slack.hearing.second_look import SecondLook
from adapters.slack.hearing.shapes import part, parts
from rag_core.errors import FootnoteError, StorageError, UpstreamError, UpstreamRejected

log = logging.getLogger(__name__)

PAGE, MAX_PAGES = 200, 10
TRIES = 3
FOR_ANSWERS = {"conversations.replies": 15}
"""Calls of a minute that are left to answers: whether one stands in its thread is looked up."""
SAVE_SECONDS = 2.0
MARGIN = 60.0
"""Seconds before the last sign of life: an edit that is heard twice changes nothing."""
Hears = Callable[[Mapping[str, Any]], Awaitable[None]]


class Backfill:
    """After every start, and after every gap in the connection, one look at known places."""

    def __init__(
        self,
        *,
        team: Team,
        keeper: MarkKeeper,
        hears: Hears,
        longest_away: float,
        pauses: Sequence[float],
        lately: KnowsAskedLately | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        self._team = team
        self._keeper = keeper
        self._hears = hears
        self._longest_away = longest_away
        self._second = SecondLook(known=lately, pages=self._whole, hears=hears) if lately else None
        self._pauses = pauses
        self._clock = clock
        self._working: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._opened = True
        """Whether it is known what was missed before the last connection."""

    async def __aenter__(self) -> Self:
        self._working = asyncio.create_task(self._work())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._working is not None
        self._working.cancel()
        [end] = await asyncio.gather(self._working, return_exceptions=True)
        if isinstance(end, Exception):
            log.error("reading what was missed met a defect", exc_info=end)
        await self._keeper.save()

    async def connected(self) -> None:
        """Events come again from now on; what came before this moment may have been missed."""
        try:
            await self._keeper.open_gaps(self._team.workspace.team_id)
        except StorageError as error:
            # Nothing is stored either as long as the marks are not known: it is tried again.
            log.error("what was missed is not read yet", extra={"cause": str(error)})
            self._opened = False
        else:
            self._opened = True
        self._wanted.set()

    async def _work(self) -> None:
        """Read what was missed, and store the marks."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep_reading())
            tasks.create_task(self._keep_saving())

    async def _keep_saving(self) -> None:
        while True:
            await asyncio.sleep(SAVE_SECONDS)
            await self._keeper.save()

    async def _keep_reading(self) -> None:
        while True:
            await self._wanted.wait()
            for pause in (*self._pauses, None):
                self._wanted.clear()
                if await self._catch_up():
                    break
                await self._wanted_within(pause)

    async def _catch_up(self) -> bool:
        """Whether all is read; what is not stays a gap, for the next time or the next process."""
        if not self._opened:
            await self.connected()
            self._wanted.clear()
        connection = self._keeper.connection
        try:
            if not self._opened or not await self._read():
                return False
            if self._second is not None and (since := self._keeper.away_since):
                await self._second.look(
                    self._team, away_since=since - MARGIN, kinds=self._keeper.kinds
                )
        except FootnoteError as error:
            log.warning("what was missed is not read yet", extra={"cause": str(error)})
            return False
        self._keeper.has_looked(connection=connection)
        return True

    async def _wanted_within(self, seconds: float | None) -> None:
        """Not before the next connection, where no time is given."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wanted.wait()

    async def _read(self) -> bool:
        """Read every gap, the channels first: they lead to threads. Whether none is left; a place
        that cannot be read now does not keep the others."""
        found, is_whole = 0, True
        for reads, threads in ((self._read_channel, False), (self._read_thread, True)):
            for place, gap in self._keeper.gaps(threads=threads).items():
                try:
                    found += await reads(place, gap)
                except UpstreamError as error:
                    about = {"place": place, "cause": str(error)}
                    log.warning("a place is not read yet", extra=about)
                    is_whole = False
                except StorageError:
                    raise
                except Exception:  # one message that we cannot take must not silence the others
                    log.exception("a place is not read by a defect", extra={"place": place})
                    is_whole = False
                else:
                    self._keeper.close_gap(place, gap)
        if found:
            log.info("read what was said meanwhile", extra={"messages": found})
        return is_whole

    async def _read_channel(self, channel: str, gap: Gap) -> int:
        found = 0
        async for message in self._history(channel, gap.since):
            await self._hear(channel, message)
            if message.get("reply_count"):
                self._keeper.found_thread(channel, word(message, "ts"), since=gap.since)
            self._keeper.has_read(channel, word(message, "ts"))
            found += 1
        return found

    async def _read_thread(self, thread: str, gap: Gap) -> int:
        found = 0
        channel, _, head = thread.partition(" ")
        async for message in self._replies(channel, head, gap.since):
            await self._hear(channel, message)
            self._keeper.has_read(thread, word(message, "ts"))
            found += 1
        return found

    async def _hear(self, channel: str, message: Mapping[str, Any]) -> None:
        kind = self._keeper.kind_of(channel)
        event = {**message, "type": "message", "channel": channel, CHANNEL_TYPE: kind}
        await self._hears({"team_id": self._team.workspace.team_id, "event": event})

    async def _history(self, channel: str, mark: str) -> AsyncIterator[Mapping[str, Any]]:
        """What was said in a channel since then, the oldest first."""
        messages = [m async for m in self._pages("conversations.history", mark, channel=channel)]
        for message in sorted(messages, key=lambda m: word(m, "ts")):
            yield message

    async def _replies(
        self, channel: str, head: str, mark: str
    ) -> AsyncIterator[Mapping[str, Any]]:
        pages = self._pages("conversations.replies", mark, channel=channel, ts=head)
        async for message in pages:
            if word(message, "ts") > max(mark, head):
                yield message

    async def _pages(
        self, method: str, mark: str, **place: str
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Page by page; a place that cannot be read, or not any more, is passed over."""
        oldest = max(mark, f"{self._clock() - self._longest_away:.6f}", key=float)
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._page(method, oldest=oldest, cursor=cursor, **place)
            for message in page.get("messages") or ():
                yield message
            cursor = part(page, "response_metadata").get("next_cursor")
            if not cursor:
                return
        log.warning("not all of what was said meanwhile is read", extra=place)

    async def _whole(self, method: str, **place: Any) -> Sequence[Mapping[str, Any]] | None:
        """Everything between two moments; None where a page was refused or there is too much."""
        found: list[Mapping[str, Any]] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._page(method, cursor=cursor, **place)
            if "messages" not in page:
                return None
            found += parts(page, "messages")
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return found
        return None

    async def _page(self, method: str, **arguments: Any) -> Mapping[str, Any]:
        for tries_left in reversed(range(TRIES)):
            try:
                await self._team.budget.turn_leaving(method, FOR_ANSWERS.get(method, 0))
                return await self._team.call_now(method, limit=PAGE, **arguments)
            except UpstreamError as error:
                refused = isinstance(error, UpstreamRejected) and not error.retryable
                if refused:
                    log.info("a place is not read", extra={"cause": str(error)})
                    return {}
                if not tries_left:
                    raise
                await asyncio.sleep(error.retry_after or 1.0)
        raise AssertionError("the last try returns or raises")
