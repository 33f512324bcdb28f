"""What is timed beside a row is timed in a process of its own, which does not outlive the row."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from aiohttp import web

from tests.faults.disk_wait import disk_waits
from tests.faults.knocking import knocking
from tests.flow.running_house import ROOT
from tests.peers.loopback import serving

DISK = "tests.faults.disk_wait"
ROW_THAT_DIES = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-m", "{DISK}", sys.argv[1]], stdin=subprocess.PIPE)
"""
"""Who was begun by it writes to the same output, which is open for as long as one of them lives."""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What it says, once nobody is left who could say more."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_disk_is_timed_and_nothing_is_left_on_it(tmp_path: Path) -> None:
    timed = run("-m", DISK, str(tmp_path))
    assert timed.returncode == 0, timed.stderr
    assert all(float(line) > 0 for line in timed.stdout.split())
    assert timed.stdout.split()
    assert not list(tmp_path.iterdir())


def test_it_ends_by_itself_when_its_row_has_died(tmp_path: Path) -> None:
    assert [float(line) for line in run("-c", ROW_THAT_DIES, str(tmp_path)).stdout.split()]


async def test_a_disk_that_cannot_be_written_is_not_taken_for_a_quick_one(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert "No such file" in (await asyncio.to_thread(run, "-m", DISK, str(nowhere))).stderr
    async with disk_waits(nowhere) as disk:
        pass
    assert disk.waited == []


async def test_who_knocks_times_how_long_the_door_took() -> None:
    knocked = asyncio.Semaphore(0)

    async def slow(_: web.Request) -> web.Response:
        await asyncio.sleep(0.1)
        knocked.release()
        return web.Response(text="ok")

    app = web.Application()
    app.router.add_get("/livez", slow)
    async with serving(app) as host, knocking(f"http://{host}/") as knocks:
        for _ in range(4):
            await knocked.acquire()
    assert len(knocks.waited) >= 3
    assert min(knocks.waited) >= 0.1
