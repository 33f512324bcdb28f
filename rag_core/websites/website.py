"""Reads one website into its mirror: by its sitemap, or the one page that was named."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from rag_core.websites.address import AddressRefused, WebAddress, parsed
from rag_core.websites.mirror import KindRefused, Mirror
from rag_core.websites.response import AGENT, Answer, Unreachable
from rag_core.websites.robots import MAX_ROBOTS, Robots
from rag_core.websites.sitemap import Sitemap, SitemapRefused, is_sitemap, read_sitemap

if TYPE_CHECKING:  # with its HTTP client, 8 MB that few need
    from rag_core.websites.fetcher import Fetcher

REFUSED = (AddressRefused, KindRefused, SitemapRefused)
GONE = frozenset({404, 410})
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(slots=True, kw_only=True)
class Reading:
    """What became of one website."""

    fetched: int = 0
    unchanged: int = 0
    bytes: int = 0
    kept: set[str] = field(default_factory=set)
    """The addresses that stay in the mirror."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Addresses that could not be read, with the reason."""
    notices: list[str] = field(default_factory=list)


class Website:
    """One site, asked politely: within its robots.txt, few at once, only for what changed."""

    def __init__(
        self, source: str, *, fetcher: Fetcher, mirror: Mirror, heard: Callable[[int, int], None]
    ) -> None:
        self._source = source
        self._fetcher = fetcher
        self._limits = fetcher.limits
        self._mirror = mirror
        self._heard = heard
        self._reading = Reading()
        self._robots: dict[str, Robots] = {}
        self._free_at = 0.0
        self._ends_at = time.monotonic() + self._limits.seconds

    async def read(self) -> Reading:
        """Bring the mirror up to date. Where the site cannot be read, it stays as it was."""
        home = parsed(self._source)
        robots = await self._rules(home)
        pages = await self._pages(home, robots)
        waiting: asyncio.Queue[WebAddress] = asyncio.Queue()
        for page in pages:
            waiting.put_nowait(page)
        at_once = 1 if robots.delay else self._limits.at_once
        async with asyncio.TaskGroup() as group:
            for _ in range(min(at_once, len(pages))):
                group.create_task(self._work(waiting, robots, len(pages)))
        await asyncio.to_thread(self._mirror.settle, self._reading.kept)
        return self._reading

    async def _pages(self, home: WebAddress, robots: Robots) -> Sequence[WebAddress]:
        """The pages to read, each once; those of other hosts are left out."""
        if is_sitemap(home.target):
            return await self._listed([home], robots)
        if home.target == "/":
            told = [self._own(home, url) for url in robots.sitemaps]
            for address in [*filter(None, told), *filter(None, [self._own(home, "/sitemap.xml")])]:
                try:
                    return await self._listed([address], robots)
                except (SitemapRefused, AddressRefused, Unreachable):
                    continue
            self._reading.notices.append(f"{home}: there is no sitemap; only this page is read")
        return [home]

    async def _listed(self, sitemaps: Sequence[WebAddress], robots: Robots) -> Sequence[WebAddress]:
        """The pages of a sitemap and of the sitemaps that it names."""
        home, queue, seen = sitemaps[0], list(sitemaps), set(map(str, sitemaps))
        pages: dict[str, WebAddress] = {}
        foreign = 0
        while queue:
            listed = await self._sitemap(queue.pop(0), robots)
            for url in listed.pages:
                page = self._own(home, url)
                foreign += page is None
                if page is not None and len(pages) < self._limits.pages:
                    pages.setdefault(str(page), page)
            for url in listed.sitemaps:
                further = self._own(home, url)
                if further and str(further) not in seen and len(seen) < self._limits.sitemaps:
                    seen.add(str(further))
                    queue.append(further)
        if foreign:
            self._reading.notices.append(
                f"{home}: {foreign} addresses in it are of other hosts or not allowed"
            )
        if len(pages) == self._limits.pages:
            self._reading.notices.append(f"{home}: only its first {len(pages)} pages are read")
        return list(pages.values())

    def _own(self, home: WebAddress, url: str) -> WebAddress | None:
        """An address of the same site, or nothing."""
        try:
            address = parsed(url if "://" in url else f"{home.scheme}://{home.authority}{url}")
        except AddressRefused:
            return None
        return address if address.site == home.site else None

    async def _sitemap(self, address: WebAddress, robots: Robots) -> Sitemap:
        check_robots(address, robots)
        answer = await self._patiently(address, self._limits.sitemap_bytes, {})
        if answer.status != 200:
            raise SitemapRefused(f"the server answers {answer.status}")
        return await asyncio.to_thread(
            read_sitemap,
            answer.body,
            most=self._limits.pages,
            max_bytes=self._limits.sitemap_bytes,
        )

    async def _rules(self, home: WebAddress) -> Robots:
        """The site's robots.txt. None: everything may be read; not to be had: nothing."""
        address = parsed(f"{home.scheme}://{home.authority}/robots.txt")
        try:
            answer = await self._patiently(address, MAX_ROBOTS, {})
        except AddressRefused as refused:
            if "larger than" in str(refused) or "packed" in str(refused):
                raise AddressRefused(f"its robots.txt cannot be read: {refused}") from refused
            raise
        if answer.status in BUSY:
            raise Unreachable(f"its robots.txt is not to be had now ({answer.status})")
        if answer.status != 200:
            return Robots()
        return Robots.read(answer.body.decode("utf-8", errors="replace"), agent=AGENT.lower())

    async def _work(self, waiting: asyncio.Queue[WebAddress], robots: Robots, total: int) -> None:
        while not waiting.empty():
            address = waiting.get_nowait()
            try:
                await self._page(address, robots)
            except Unreachable as error:  # what was fetched before stays
                self._reading.kept.add(str(address))
                self._reading.failures.append((str(address), str(error)))
            except OSError as error:
                self._reading.kept.add(str(address))
                reason = f"it could not be written ({error.strerror})"
                self._reading.failures.append((str(address), reason))
            except REFUSED as error:
                self._reading.failures.append((str(address), str(error)))
            self._heard(total - waiting.qsize(), total)

    async def _page(self, address: WebAddress, robots: Robots) -> None:
        reading = self._reading
        check_robots(address, robots)
        if reading.bytes > self._limits.total_bytes or time.monotonic() > self._ends_at:
            raise Unreachable("the site is larger than one reading may be")
        await self._in_turn(robots.delay)
        conditions = self._mirror.conditions(address)
        answer = await self._patiently(address, self._limits.page_bytes, conditions)
        if answer.status == 304 and conditions:
            reading.unchanged += 1
        elif answer.status == 200:
            reading.bytes += len(answer.body)
            reading.fetched += 1
            await asyncio.to_thread(self._mirror.keep, address, answer)
        elif answer.status in GONE:
            raise AddressRefused(f"the server answers {answer.status}")
        else:
            raise Unreachable(f"the server answers {answer.status}")
        reading.kept.add(str(address))

    async def _in_turn(self, delay: float) -> None:
        """As far apart as the site asks for."""
        now = time.monotonic()
        self._free_at, wait = max(now, self._free_at) + delay, self._free_at - now
        if delay and wait > 0:
            await asyncio.sleep(wait)

    async def _patiently(
        self, address: WebAddress, max_bytes: int, conditions: Mapping[str, str]
    ) -> Answer:
        """Ask again, later and later, where a server is busy for the moment."""
        limits, pause = self._limits, self._limits.pause
        for attempt in range(1, limits.attempts + 1):
            is_last = attempt == limits.attempts
            try:
                answer = await self._fetcher.get(
                    address, max_bytes=max_bytes, conditions=conditions
                )
            except Unreachable:
                if is_last:
                    raise
                wished = 0.0
            else:
                if answer.status not in BUSY or is_last:
                    return answer
                wished = seconds_asked(answer.headers.get("retry-after", ""))
            await asyncio.sleep(min(max(wished, pause), limits.longest_pause))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")


def check_robots(address: WebAddress, robots: Robots) -> None:
    if not robots.allows(address.target):
        raise AddressRefused("the site's robots.txt does not allow it")


def seconds_asked(retry_after: str) -> float:
    """How long a server wants to be left alone: seconds, or a moment."""
    if retry_after.isdecimal():
        return float(retry_after[:6])
    try:
        return (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
