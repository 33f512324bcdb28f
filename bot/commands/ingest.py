"""footnote ingest: files and folders into a book."""

from __future__ import annotations

import asyncio
from typing import Any

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bot.output import counted, notices, print_json, terminal
from bot.reach import House, reach
from bot.settings import read_settings

LOOK_EVERY_SECONDS = 0.2
LOOKS_A_LINE = 100
"""Twenty seconds: what a log or a pipe is told of."""
OVER = frozenset({"completed", "failed", "cancelled"})


async def ingest(request: dict[str, Any], *, as_json: bool) -> int:
    async with reach(read_settings()) as house:
        job = await house.post("/jobs", request)
        job = await watch(house, job)
    if as_json:
        print_json(job)
    else:
        terminal().print(summary(job), soft_wrap=True)
    read = job["files_processed"] + job["files_skipped"]
    return 0 if job["status"] == "completed" and (read or not job["files_failed"]) else 1


async def watch(house: House, job: dict[str, Any]) -> dict[str, Any]:
    """Show how far the job is until it is over."""
    if not notices().is_terminal:
        return await watch_in_lines(house, job)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=notices(), transient=True) as progress:
        shown = progress.add_task("queued")
        while job["status"] not in OVER:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            job = await house.get(f"/jobs/{job['job_id']}")
            progress.update(shown, description=so_far(job))
    return job


async def watch_in_lines(house: House, job: dict[str, Any]) -> dict[str, Any]:
    """The same for a log: a line now and then, none for a short job."""
    looks = 0
    while job["status"] not in OVER:
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        job = await house.get(f"/jobs/{job['job_id']}")
        looks += 1
        if looks % LOOKS_A_LINE == 0:
            notices().print(so_far(job), soft_wrap=True)
    return job


def so_far(job: dict[str, Any]) -> str:
    files = job["files_processed"] + job["files_skipped"] + job["files_failed"]
    said = f"{job['book_id']}: {files} of {job['files_found']} files,"
    said += f" {job['chunks_embedded']} passages embedded"
    if job["chunks_per_second"]:
        said += f", {job['chunks_per_second']:g} a second"
    return said + (f", {job['seconds_left']:.0f} s left" if job["seconds_left"] else "")


def summary(job: dict[str, Any]) -> str:
    lines = [
        f"{job['book_id']}: {job['status']}. {counted(job['files_processed'], 'file')} read,"
        f" {job['files_skipped']} skipped, {job['files_failed']} failed;"
        f" {counted(job['chunks_created'], 'passage')} new, {job['chunks_deleted']} gone."
    ]
    if job["error_message"]:
        lines.append(f"  {job['error_message']}")
    lines += [f"  {failure['source_file']}: {failure['reason']}" for failure in job["failures"]]
    lines += [f"  note: {notice}" for notice in job["notices"]]
    return "\n".join(lines)
