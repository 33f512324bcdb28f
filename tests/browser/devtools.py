"""A Chromium of our own, and the line to it: Chromium's own protocol over a loopback socket."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp

from tests.browser.environment import Program

PATIENCE = 30.0
"""Longer than anything here takes; a test that waits so long has failed."""
SWITCHES = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--metrics-recording-only",
    "--mute-audio",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

Hears = Callable[[str, dict[str, Any]], None]


class DevToolsError(Exception):
    """The browser could not do what it was told."""


class DevTools:
    """One line to a browser: commands out, answers and events in."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._hearing: dict[str, Hears] = {}

    async def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        answered = self._open[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": params}
        await self._socket.send_json(message | ({"sessionId": session} if session else {}))
        async with asyncio.timeout(PATIENCE):
            return await answered

    def listen(self, session: str, hears: Hears) -> None:
        self._hearing[session] = hears

    async def read(self) -> None:
        """Hands out what the browser says, until the line ends."""
        async for message in self._socket:
            heard = message.json()
            if "id" in heard:
                self._settle(self._open.pop(heard["id"]), heard)
            elif hears := self._hearing.get(heard.get("sessionId", "")):
                hears(heard["method"], heard["params"])

    def _settle(self, answered: asyncio.Future[dict[str, Any]], heard: dict[str, Any]) -> None:
        if answered.done():  # nobody waits any more
            return
        if "error" in heard:
            answered.set_exception(DevToolsError(heard["error"]["message"]))
        else:
            answered.set_result(heard["result"])


@contextlib.asynccontextmanager
async def open_chromium(program: Program, folder: Path) -> AsyncIterator[DevTools]:
    """A browser with a new profile, until the end of the block."""
    # Chromium refuses its sandbox to root, and needs none for pages of our own.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        program.path,
        *SWITCHES,
        *sandbox,
        f"--user-data-dir={folder}",
        "about:blank",
        env=os.environ | program.environment,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with aiohttp.ClientSession() as client:
            address = await spoken_address(process, folder / "DevToolsActivePort")
            async with client.ws_connect(address, max_msg_size=0) as socket:
                devtools = DevTools(socket)
                reading = asyncio.create_task(devtools.read())
                yield devtools
                with contextlib.suppress(DevToolsError, TimeoutError):
                    await devtools.send("Browser.close")
                await reading
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def spoken_address(process: asyncio.subprocess.Process, file: Path) -> str:
    """Where the browser listens; it writes this down when it is ready."""
    async with asyncio.timeout(PATIENCE):
        while not (written := lines_of(file)):
            assert process.returncode is None, "Chromium ended before it was ready"
            await asyncio.sleep(0.02)
    port, path = written
    return f"ws://127.0.0.1:{port}{path}"


def lines_of(file: Path) -> list[str]:
    """The port and the path, or nothing while they are not both there."""
    lines = file.read_text().splitlines() if file.exists() else []
    return lines if len(lines) == 2 and lines[1] else []
