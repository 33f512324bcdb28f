"""The real program as a process of its own, against loopback platforms."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Longer than any of this takes; a test that waits so long has failed."""


@dataclass(frozen=True)
class Program:
    """How the program is called, and where its packages are found beside what is installed."""

    call: tuple[str, ...]
    path: str = ""


CHECKOUT = Program((sys.executable, "-m", "bot"), path=str(ROOT))


def environment(
    folder: Path, settings: Mapping[str, str], program: Program = CHECKOUT
) -> dict[str, str]:
    """Nothing of the caller's own settings, and an empty folder to work in."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": program.path,
        "FOOTNOTE_DATA_DIR": str(folder / "data"),
        "FOOTNOTE_WEB_PORT": "0",
        "FOOTNOTE_LOG_FORMAT": "json",
        **settings,
    }


async def footnote(
    *arguments: str,
    folder: Path,
    expect: int | None = 0,
    settings: Mapping[str, str] | None = None,
    program: Program = CHECKOUT,
) -> tuple[str, str]:
    """One command to its end: what it printed, and what it said on the way."""
    process = await asyncio.create_subprocess_exec(
        *program.call,
        *arguments,
        cwd=folder,
        env=environment(folder, settings or {}, program),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE):
        printed, said = await process.communicate()
    assert expect in (None, process.returncode), said.decode()
    return printed.decode(), said.decode()


@dataclass(frozen=True)
class RunningHouse:
    """A bot at work, and its web door."""

    process: asyncio.subprocess.Process
    web: httpx.AsyncClient
    said: list[str]
    """Every line that it logged so far."""
    key: str = ""
    """The local key; empty where API keys open the door."""

    @property
    def address(self) -> str:
        """The web door's, without the last slash."""
        return str(self.web.base_url).rstrip("/")

    @property
    def link(self) -> str:
        """What signs a browser in: an address below the web door's."""
        return f"/?key={self.key}" if self.key else "/"

    async def ask(self, **body: Any) -> dict[str, Any]:
        answer = await self.web.post("/chat/run", json=body)
        answer.raise_for_status()
        document: dict[str, Any] = answer.json()
        return document

    async def until_said(self, words: str, *, times: int = 1) -> None:
        """Wait until so many lines of the log hold these words."""
        async with asyncio.timeout(PATIENCE):
            while sum(words in line for line in self.said) < times:  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # the lines are another process's

    async def kill(self) -> None:
        """No time for any goodbye."""
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def running_house(
    folder: Path, *, program: Program = CHECKOUT, **settings: str
) -> AsyncIterator[RunningHouse]:
    """`footnote run` until it is ready; at the end SIGTERM, and it must end well."""
    process = await asyncio.create_subprocess_exec(
        *program.call,
        "run",
        cwd=folder,
        env=environment(folder, settings, program),
        stderr=asyncio.subprocess.PIPE,
    )
    said: list[str] = []
    try:
        address = await spoken_address(process, said)
        reading = asyncio.create_task(keep_reading(process, said))
        key = local_key(Path(environment(folder, settings)["FOOTNOTE_DATA_DIR"]))
        if "FOOTNOTE_API_KEYS" in settings:
            key = ""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE, headers=headers) as web:
            await until_ready(web)
            yield RunningHouse(process, web, said, key)
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE):
                assert await process.wait() == 0, "".join(said)
        await reading
    except BaseException:
        print("".join(said))
        raise
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def local_key(data: Path) -> str:
    """What the program made at its first start; empty where it made none."""
    file = data / "local-key"
    return file.read_text(encoding="ascii").strip() if file.exists() else ""


async def spoken_address(process: asyncio.subprocess.Process, said: list[str]) -> str:
    """Where the program says that its web door is."""
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE):
        async for line in process.stderr:
            said.append(line.decode())
            document = json.loads(line) if line.startswith(b"{") else {}
            if "address" in document:
                return str(document["address"])
    raise AssertionError("the program ended before it was ready:\n" + "".join(said))


async def keep_reading(process: asyncio.subprocess.Process, said: list[str]) -> None:
    assert process.stderr is not None
    async for line in process.stderr:
        said.append(line.decode())  # noqa: PERF401 - whoever waits for a line sees it at once


async def until_ready(web: httpx.AsyncClient) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await web.get("/readyz")).is_error:  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.05)
