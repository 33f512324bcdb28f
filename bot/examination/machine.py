"""The machine and the process: versions, disk, clock, what went wrong lately."""

from __future__ import annotations

import asyncio
import resource
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from adapters.steward import Finding
from bot.examination.clock import clock
from bot.examination.look import Check, in_place, missing, warning
from bot.logs import last_troubles
from bot.private_folder import folder_rights
from bot.settings import Settings

LEAST_FREE_BYTES = 500 * 1024**2
MEGABYTE = 1024**2
FEW_FILES = 4_096
"""Below this a thousand open connections leave little for anything else."""
BLOCK = 512
"""Bytes of a block as the system counts them, whatever the disk's own are."""
LATELY = timedelta(hours=1)
SHOWN = 3


def of_machine(settings: Settings, folder: Path) -> Sequence[Check]:
    async def disk_look() -> Sequence[Finding]:
        return [await asyncio.to_thread(disk, folder)]

    async def rights_look() -> Sequence[Finding]:
        return [await asyncio.to_thread(folder_rights, folder)]

    async def files_look() -> Sequence[Finding]:
        return [open_files(*resource.getrlimit(resource.RLIMIT_NOFILE))]

    async def clock_look() -> Sequence[Finding]:
        return await clock(settings, folder)

    return [
        Check(name="versions", look=versions, advice="Install Footnote anew."),
        Check(name="disk", look=disk_look, advice="Find out why the disk does not answer."),
        Check(name="data folder", look=rights_look, advice="Look at the folder's rights."),
        Check(name="open files", look=files_look, advice="Look at `ulimit -n`."),
        Check(name="clock", look=clock_look, advice="Look at this machine's clock."),
        Check(name="last errors", look=troubles, advice="Read the log."),
    ]


async def versions() -> Sequence[Finding]:
    python = ".".join(str(number) for number in sys.version_info[:3])
    found = f"Footnote {version('footnote-bot')}, Python {python}, SQLite {sqlite3.sqlite_version}."
    return [in_place("versions", found)]


def disk(folder: Path) -> Finding:
    usage = shutil.disk_usage(folder)
    detail = f"{size_of(folder) // MEGABYTE} MB used by Footnote, {usage.free // MEGABYTE} MB free."
    if usage.free < LEAST_FREE_BYTES:
        return missing("disk", detail, "Free some space: without it no question is accepted.")
    return in_place("disk", detail)


def open_files(limit: int, allowed: int) -> Finding:
    """The process raises its own limit at its start to what the system allows."""
    most = allowed if limit != resource.RLIM_INFINITY else limit
    if most != resource.RLIM_INFINITY and most < FEW_FILES:
        advice = (
            f"Allow {FEW_FILES:,} or more: LimitNOFILE= in a systemd unit, --ulimit nofile= for"
            " a container, `ulimit -Hn` in a shell."
        )
        return warning("open files", f"at most {most:,} at once, connections among them.", advice)
    shown = "any number" if most == resource.RLIM_INFINITY else f"up to {most:,}"
    return in_place("open files", f"{shown} at once.")


def size_of(folder: Path) -> int:
    """What a folder takes of the disk: the index reserves more than it has written. Files that a
    running bot takes away meanwhile count for nothing."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_blocks * BLOCK if file.is_file() else 0
        except FileNotFoundError:
            continue
    return total


async def troubles() -> Sequence[Finding]:
    """What this process logged as an error within the last hour: times and sentences alone."""
    since = datetime.now(UTC) - LATELY
    lately = [trouble for trouble in last_troubles() if trouble.at >= since]
    if not lately:
        return [in_place("last errors", "this process logged none within the last hour.")]
    said = "; ".join(f"{each.at:%H:%M:%S} {each.sentence}" for each in lately[-SHOWN:])
    detail = f"{len(lately)} within the last hour, the last ones (UTC): {said}"
    return [missing("last errors", detail, "Read the log around these times.")]
