"""footnote doctor: what is in place, what is missing, what to do."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.table import Table

from adapters.steward import Finding
from bot.clock import clock_finding
from bot.doctor import in_place, missing
from bot.door import door_address, own_folder
from bot.output import notices, print_json, terminal
from bot.reach import reach
from bot.settings import Settings, read_settings
from rag_core.errors import FootnoteError

LEAST_FREE_BYTES = 500 * 1024**2
MEGABYTE = 1024**2


async def examine(*, as_json: bool) -> int:
    settings = read_settings()
    with notices().status("Looking at every part…"):
        findings = [asdict(found) for found in await around(settings)]
        findings += await inside(settings)
    if as_json:
        print_json({"findings": findings})
    else:
        show(findings)
    return 0 if all(found["in_place"] for found in findings) else 1


async def around(settings: Settings) -> Sequence[Finding]:
    """What can be seen without opening the house."""
    folder = own_folder(settings.data_dir)
    return [
        versions(),
        running(folder),
        disk(folder),
        web_door(settings),
        await clock_finding(settings),
    ]


async def inside(settings: Settings) -> list[dict[str, Any]]:
    """What the house says of itself: the running one, or one opened for the occasion."""
    try:
        async with reach(settings) as house:
            found: list[dict[str, Any]] = (await house.get("/doctor"))["findings"]
            return found
    except FootnoteError as error:
        return [asdict(missing("house", str(error), "Nothing can be answered until it is mended."))]


def versions() -> Finding:
    python = ".".join(str(number) for number in sys.version_info[:3])
    return in_place(
        "versions",
        f"Footnote {version('footnote-bot')}, Python {python}, SQLite {sqlite3.sqlite_version}.",
    )


def running(folder: Path) -> Finding:
    if door_address(folder) is None:
        return in_place("bot", f"does not run in {folder}; `footnote run` starts it.")
    return in_place("bot", f"runs in {folder}.")


def disk(folder: Path) -> Finding:
    usage = shutil.disk_usage(folder)
    own = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    detail = f"{own // MEGABYTE} MB used by Footnote, {usage.free // MEGABYTE} MB free."
    if usage.free < LEAST_FREE_BYTES:
        return missing("disk", detail, "Free some space: without it no question is accepted.")
    return in_place("disk", detail)


def web_door(settings: Settings) -> Finding:
    host, port = settings.listens_on
    who = "whoever holds one of the API keys" if settings.api_keys else "this machine only"
    return in_place("web door", f"{host}:{port}, open to {who}.")


def show(findings: Sequence[dict[str, Any]]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 1))
    for found in findings:
        advice = f"\n→ {found['advice']}" if found["advice"] else ""
        table.add_row(
            "✓" if found["in_place"] else "✗", found["name"], f"{found['detail']}{advice}"
        )
    terminal().print(table)
