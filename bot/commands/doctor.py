"""footnote doctor: what is in place, what is missing, what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from adapters.steward import Finding
from bot.doctor import Doctor
from bot.door import door_address, own_folder
from bot.examination.look import in_place, missing
from bot.examination.names import names
from bot.examination.tokens import of_tokens
from bot.examination.web_door import web_door
from bot.output import notices, print_json, terminal
from bot.reach import reach
from bot.settings import Settings, read_settings
from rag_core.errors import FootnoteError

OPEN_SECONDS = 40.0
"""For a house to open and to look around: longer than it waits for an old process to go."""


IN_PLACE = "✓"


async def examine(*, as_json: bool) -> int:
    settings = read_settings()
    with notices().status("Looking at every part…"):
        folder = own_folder(settings.data_dir)
        told = await inside(settings)
        here = [asdict(running(folder)), asdict(names())]
        findings = [*here, *beside(asdict(web_door(settings)), told)]
    if as_json:
        print_json({"findings": findings})
    else:
        show(findings)
    return 0 if all(found["in_place"] for found in findings) else 1


async def inside(settings: Settings) -> list[dict[str, Any]]:
    """What the house says of itself: the running one, or one opened for the occasion. Where
    none opens, each part is looked at by itself."""
    try:
        async with asyncio.timeout(OPEN_SECONDS), reach(settings) as house:
            found: list[dict[str, Any]] = (await house.get("/doctor"))["findings"]
            return found
    except (FootnoteError, TimeoutError) as error:
        reason = str(error) or f"does not open within {OPEN_SECONDS:.0f} s."
    closed = missing("house", reason, "Nothing can be answered until it is mended.")
    doctor = Doctor(settings, tokens=of_tokens(settings))
    return [asdict(found) for found in [*await doctor.everything(), closed]]


def running(folder: Path) -> Finding:
    if door_address(folder) is None:
        return in_place("bot", f"does not run in {folder}; `footnote run` starts it.")
    return in_place("bot", f"runs in {folder}.")


def beside(own: dict[str, Any], told: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A running bot knows where its web door is; a fault of the settings here is a fault still."""
    if not own["in_place"]:
        return [own, *(found for found in told if found["name"] != own["name"])]
    if any(found["name"] == own["name"] for found in told):
        return list(told)
    return [own, *told]


def show(findings: Sequence[dict[str, Any]]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 1))
    for found in findings:
        sign = sign_of(found)
        advice = f"\n→ {found['advice']}" if found["advice"] and sign != IN_PLACE else ""
        table.add_row(sign, found["name"], f"{found['detail']}{advice}")
    terminal().print(table)


def sign_of(found: dict[str, Any]) -> str:
    if not found["in_place"]:
        return "✗"
    return "!" if found["is_warning"] else IN_PLACE
