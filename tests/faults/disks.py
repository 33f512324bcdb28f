"""Disks that fill up, that cannot be written to, and that give back something else."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic

from tests.faults.checker import figures
from tests.faults.record import Sent
from tests.faults.row import Outcome, Scale, judged
from tests.faults.yard import House, Yard, yard

PATIENCE = 90.0
GOES_ON_SECONDS = 5.0
SIZE_MB = 400
"""The index maps its files into memory, sparse ones: it needs what they may come to."""
PIECE = 4096
SAID = "no space left"


def own_disk(folder: Path, *, megabytes: int) -> Sequence[str]:
    """A command that begins a program with a small disk of its own in the place of this folder.

    Nobody else sees the disk, and it goes with the program."""
    script = (
        'cp -a "$1" "$1.seed" && mount -t tmpfs -o "size=$2m" none "$1"'
        ' && cp -a "$1.seed/." "$1" && rm -r "$1.seed" && shift 2 && exec "$@"'
    )
    return (*alone(), "sh", "-c", script, "sh", str(folder), str(megabytes))


def read_only(folder: Path) -> Sequence[str]:
    """A command that begins a program which may not write to this folder, whoever it is."""
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
    return (*alone(), "sh", "-c", script, "sh", str(folder))


def alone() -> Sequence[str]:
    return ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--mount", "-r")


async def disk_full(scale: Scale) -> Outcome:
    """The disk fills up while answers are written, and while people ask."""
    times, asked = scale.of(10), scale.of(20, least=3)
    outcome = Outcome(figures={"times": times})
    async with yard(scale.folder, seed=scale.seed, model_seconds=1.0) as place:
        house = await place.start(within=own_disk(place.folder / "data", megabytes=SIZE_MB))
        place.seen_from = Path(f"/proc/{house.process.pid}/root")
        await house.ready()
        goes_on = []
        for _ in range(times):
            began, answered = len(house.said(SAID)), len(place.model.calls)
            ask(place, asked)
            await asyncio.sleep(place.random.uniform(0.0, 1.0))
            filler = fill(place.data / "filler")
            heard = len(place.sent)
            ask(place, asked)
            await asyncio.sleep(3.0)
            # The log of the database may have room for some; what it has none for is not taken.
            unwritten = acknowledged(place, unknown(place, place.sent[heard:]))
            outcome.must(not unwritten, f"{unwritten} taken without being written down")
            filler.unlink()
            goes_on.append(await until_goes_on(place))
            outcome.must(await place.until_ended(within=PATIENCE), "not everything ended")
            said = len(house.said(SAID)) - began
            outcome.must(0 < said <= asked + 5, f"said {said} times that there is no space")
            calls = len(place.model.calls) - answered
            outcome.must(calls <= 2 * (2 * asked + 1), f"{calls} model calls: some again")
        outcome.figures["goes_on_after_max"] = round(max(goes_on), 2)
        outcome.must(max(goes_on) < GOES_ON_SECONDS, "went on later than 5 s after there was space")
        return judged(outcome, figures(place.record()))


async def disk_fails(scale: Scale) -> Outcome:
    """The folder cannot be written to: at the start, and later on."""
    times, asked = scale.of(10), scale.of(20, least=3)
    outcome = Outcome(figures={"times": times})
    async with yard(scale.folder, seed=scale.seed) as place:
        goes_on = []
        for _ in range(times):
            house = await place.start(within=read_only(place.folder / "data"))
            outcome.must(await house.process.wait() == 1, "a start on a read-only disk went on")
            sentences = house.said("cannot be used")
            outcome.must(len(sentences) == 1, f"said {len(sentences)} times that it is read-only")
            ask(place, asked)
            house = await place.start()
            await house.ready()
            outcome.must(await place.until_ended(within=PATIENCE), "not everything ended")
            with unwritable(house):
                accepted = place.accepted()
                ask(place, asked)
                await asyncio.sleep(3.0)
                outcome.must(place.accepted() == accepted, "accepted without writing it down")
            goes_on.append(await until_goes_on(place))
            outcome.must(await place.until_ended(within=PATIENCE), "not everything ended")
            await house.terminate()
        outcome.figures["goes_on_after_max"] = round(max(goes_on), 2)
        outcome.must(max(goes_on) < GOES_ON_SECONDS, "went on later than 5 s after it could")
        return judged(outcome, figures(place.record()))


async def damaged_page(scale: Scale) -> Outcome:
    """A page of the database holds something else; then the file is put back."""
    times, asked = scale.of(10), scale.of(20, least=3)
    outcome = Outcome(figures={"times": times})
    async with yard(scale.folder, seed=scale.seed) as place:
        for _ in range(times):
            house = await place.start()
            await house.ready()
            ask(place, asked)
            outcome.must(await place.until_ended(within=PATIENCE), "not everything ended")
            await house.terminate()
            kept = shutil.copy(place.file, place.folder / "kept.db")
            scribble(place.file, table="questions")
            house = await place.start()
            await house.address()
            heard = len(place.sent)
            ask(place, asked)
            await asyncio.sleep(4.0)
            acked = acknowledged(place, place.sent[heard:])
            outcome.must(not acked, f"{acked} questions taken into a damaged database")
            said = len(house.said("is damaged"))
            outcome.must(0 < said < 10, f"the damage was said {said} times")
            await house.kill()
            for name in ("footnote.db-wal", "footnote.db-shm"):
                (place.data / name).unlink(missing_ok=True)
            shutil.copy(kept, place.file)
        house = await place.start()
        await house.ready()
        outcome.must(await place.until_ended(within=PATIENCE), "not everything ended")
        return judged(outcome, figures(place.record()))


def ask(place: Yard, questions: int) -> None:
    for channel in place.channels(questions):
        place.ask(channel)


async def until_goes_on(place: Yard) -> float:
    """Seconds until somebody who asks now has an answer, less what the model takes."""
    began = monotonic()
    sent = place.ask(place.channels(60)[-1])
    answered = f"SELECT count(*) AS n FROM questions WHERE message_id = '{sent.message_id}'"
    while monotonic() - began < PATIENCE:
        if place.rows(f"{answered} AND closed_at IS NOT NULL")[0]["n"]:
            return monotonic() - began - place.model.seconds_for(sent.canary)
        await asyncio.sleep(0.05)
    return PATIENCE


def fill(file: Path) -> Path:
    """Take every byte that is left on the file's disk."""
    with file.open("wb", buffering=0) as filler:
        for piece in (PIECE * 256, PIECE):
            with suppress(OSError):
                while filler.write(b"\0" * piece):
                    pass
    return file


@contextmanager
def unwritable(house: House) -> Iterator[None]:
    """While this lasts, no file that the process writes may have any size."""
    pid = house.process.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


def scribble(file: Path, *, table: str) -> None:
    """Write something else over the first page of a table."""
    with closing(sqlite3.connect(file)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
        (page,) = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
    with file.open("r+b") as pages:
        pages.seek((page - 1) * size)
        pages.write(b"\xa5" * size)


def unknown(place: Yard, asked: Sequence[Sent]) -> list[Sent]:
    """Which of these the database does not hold."""
    held = {row["message_id"] for row in place.rows("SELECT message_id FROM questions")}
    return [sent for sent in asked if sent.message_id not in held]


def acknowledged(place: Yard, asked: Sequence[Sent]) -> int:
    """How many of these messages the program has told Slack that it has."""
    wanted = {sent.message_id for sent in asked}
    return sum(
        envelope.acked_at is not None and envelope.payload["event"].get("ts") in wanted
        for envelope in place.slack.envelopes()
        if "event" in envelope.payload
    )
