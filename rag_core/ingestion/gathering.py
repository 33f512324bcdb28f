"""Brings a job's sources onto the disk: folders lie there, websites and checkouts are fetched."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag_core.errors import IngestionError
from rag_core.ingestion.job import FileFailure, IngestionJob
from rag_core.websites.address import AddressRefused
from rag_core.websites.mirror import Mirror
from rag_core.websites.response import Unreachable
from rag_core.websites.sitemap import SitemapRefused
from rag_core.websites.website import Reading, Website

if TYPE_CHECKING:  # with its HTTP client, 8 MB that few need
    from rag_core.websites.fetcher import Fetcher

CHECKOUT = "git:"
"""Before the path of a checkout whose remote is asked for news first."""
PULL_SECONDS = 300.0
MAX_REASON = 300

Heard = Callable[[int, int], None]
"""How many pages of how many were looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Where a job's documents lie, and what could not be brought there."""

    sources: tuple[str, ...]
    addresses: Mapping[Path, str] = field(default_factory=dict)
    """The web address of each file that was fetched from one."""
    failures: tuple[FileFailure, ...] = ()
    notices: tuple[str, ...] = ()


class Gathers(Protocol):
    """Gets the sources of a job ready to be read."""

    async def gather(self, job: IngestionJob, heard: Heard) -> Gathered: ...

    async def forget(self, book_id: str) -> None:
        """Remove what was fetched for a book."""
        ...


class AsTheyLie:
    """Folders and files only: where nothing may be fetched."""

    async def gather(self, job: IngestionJob, heard: Heard) -> Gathered:
        reason = "addresses are not fetched here"
        return Gathered(
            sources=tuple(source for source in job.sources if not is_address(source)),
            failures=tuple(
                FileFailure(source_file=source, reason=reason)
                for source in job.sources
                if is_address(source)
            ),
        )

    async def forget(self, book_id: str) -> None: ...


class Gathering:
    """Fetches what is elsewhere into a folder of its own for each source of a book."""

    def __init__(
        self, folder: Path, *, fetcher: Callable[[], AbstractAsyncContextManager[Fetcher]]
    ) -> None:
        self._folder = folder
        self._fetcher = fetcher

    async def gather(self, job: IngestionJob, heard: Heard) -> Gathered:
        """What can be had; a source that cannot is named, and stays as it was read before."""
        places: list[str] = []
        addresses: dict[Path, str] = {}
        failures: list[FileFailure] = []
        notices: list[str] = []
        async with self._fetcher() as fetcher:
            for source in job.sources:
                if not is_address(source):
                    places.append(source.removeprefix(CHECKOUT))
                    failures += await pulled(source) if source.startswith(CHECKOUT) else ()
                    continue
                mirror = await asyncio.to_thread(opened, self._place(job.book_id, source))
                site = Website(source, fetcher=fetcher, mirror=mirror, heard=heard)
                reading = await read(site, source, mirror)
                places.append(str(mirror.root))
                addresses |= mirror.addresses()
                failures += [FileFailure(source_file=u, reason=r) for u, r in reading.failures]
                notices += reading.notices
        return Gathered(
            sources=tuple(places),
            addresses=addresses,
            failures=tuple(failures),
            notices=tuple(notices),
        )

    async def forget(self, book_id: str) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder / book_id, ignore_errors=True)

    def _place(self, book_id: str, source: str) -> Path:
        return self._folder / book_id / hashlib.sha256(source.encode()).hexdigest()[:16]


def is_address(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def is_fetched(source: str) -> bool:
    """Whether it comes from elsewhere, as websites and checkouts do."""
    return is_address(source) or source.startswith(CHECKOUT)


def opened(place: Path) -> Mirror:
    try:
        return Mirror(place)
    except OSError as error:
        reason = f"the folder for its pages cannot be written ({error.strerror})"
        raise IngestionError(str(place), "fetch", reason) from error


async def read(site: Website, source: str, mirror: Mirror) -> Reading:
    """The reading; of a site that cannot be read, what was there before."""
    try:
        return await site.read()
    except (AddressRefused, SitemapRefused, Unreachable) as error:
        await asyncio.to_thread(mirror.restore)
        return Reading(failures=[(source, str(error))])


async def pulled(source: str) -> Sequence[FileFailure]:
    """Ask a checkout's remote for news; what is there is read in any case."""
    folder = source.removeprefix(CHECKOUT)
    if shutil.which("git") is None:
        return [failed(folder, "git is not installed here")]
    process = await asyncio.create_subprocess_exec(
        "git",
        *("-c", f"core.hooksPath={os.devnull}", "-c", "protocol.ext.allow=never"),
        *("-C", folder, "pull", "--ff-only", "--quiet", "--no-recurse-submodules"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(PULL_SECONDS):
            _, said = await process.communicate()
    except TimeoutError:
        return [failed(folder, f"git pull did not end within {PULL_SECONDS:g} s")]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return ()
    reason = said.decode(errors="replace").strip().splitlines() or ["no reason given"]
    return [failed(folder, f"git pull failed: {reason[-1][:MAX_REASON]}")]


def failed(folder: str, reason: str) -> FileFailure:
    return FileFailure(source_file=folder, reason=reason)
