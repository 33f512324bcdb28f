"""How long the program's event loop is away while a large book is read."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from tests.faults.checker import figures
from tests.faults.knocking import knocking
from tests.faults.row import Outcome, Scale, judged, share
from tests.faults.yard import PAGE, Yard, yard
from tests.flow.running_house import environment

KILOBYTES_A_FILE = 100


async def event_loop(scale: Scale) -> Outcome:
    """A book of 50 MB is being read, and people ask; who knocks at the door waits for the loop."""
    megabytes, seconds = scale.of(50, least=2), max(8.0, 180 * scale.share)
    async with yard(scale.folder, seed=scale.seed) as place:
        house = await place.start()
        await house.ready()
        book = big_book(place.folder / "big", megabytes=megabytes)
        async with being_read(place, book):
            await until_running(place)
            async with knocking(await house.address()) as knocks:
                for number in range(round(seconds)):
                    place.ask(place.channels(20)[number % 20])
                    await asyncio.sleep(1.0)
            waited = knocks.waited
            running = place.rows("SELECT count(*) AS n FROM jobs WHERE status = 'running'")[0]["n"]
            ended = await place.until_ended(within=60)
            outcome = Outcome(
                figures={
                    "megabytes": megabytes,
                    "seconds": seconds,
                    "knocks": len(waited),
                    "lag_p50_ms": round(share(waited, 0.5) * 1000, 1),
                    "lag_p999_ms": round(share(waited, 0.999) * 1000, 1),
                    "lag_max_ms": round(max(waited) * 1000, 1),
                }
            )
            outcome.must(ended, "not everything ended")
            outcome.must(bool(running), "the book was read before the time was over")
            outcome.must(share(waited, 0.999) < 0.05, "lag p99.9 is not under 50 ms")
            outcome.must(max(waited) <= 0.25, "a lag of more than 250 ms")
            await house.kill()
        return judged(outcome, figures(place.record()))


def big_book(folder: Path, *, megabytes: int) -> Path:
    folder.mkdir()
    for number in range(megabytes * 1024 // KILOBYTES_A_FILE):
        sections = [
            f"## Rule {number}.{part}\n\n" + f"Rule {part} of room {number} holds all day. " * 40
            for part in range(KILOBYTES_A_FILE * 1024 // 1600)
        ]
        text = PAGE.replace("The reading room", f"Room {number}").partition("##")[0]
        (folder / f"room-{number}.md").write_text(text + "\n\n".join(sections), encoding="utf-8")
    return folder


@contextlib.asynccontextmanager
async def being_read(place: Yard, book: Path) -> AsyncIterator[None]:
    """The bot reads it; the command waits for that."""
    command = ("-m", "bot", "ingest", str(book), "--book", "big", "--json")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        cwd=place.folder,
        env=environment(place.folder, place.environment()),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        await process.wait()


async def until_running(place: Yard) -> None:
    running = "SELECT count(*) AS n FROM jobs WHERE status = 'running'"
    async with asyncio.timeout(60):
        while not place.rows(running)[0]["n"]:  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.1)
