"""The link that signs in: shown on a terminal, opened where there is a desktop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
from pathlib import Path

import httpx

from tests.flow.running_house import (
    CHECKOUT,
    PATIENCE,
    environment,
    footnote,
    running_house,
)


def a_desktop(folder: Path) -> dict[str, str]:
    """A screen, and a browser that notes what it was called with."""
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {folder}/opened\n')
    browser.chmod(0o755)
    return {"DISPLAY": ":77", "BROWSER": f"{browser} %s &"}


async def opened(folder: Path) -> Path:
    """The page that the browser was handed."""
    async with asyncio.timeout(PATIENCE):
        while not (folder / "opened").exists():  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.02)
    (address,) = (folder / "opened").read_text().split()
    assert address.startswith("file://")
    return Path(address.removeprefix("file://"))


async def signs_in(link: str) -> bool:
    async with httpx.AsyncClient(follow_redirects=True) as web:
        page = await web.get(link, headers={"Accept": "text/html"})
        return page.status_code == 200 and "key=" not in str(page.url) and "data-csrf" in page.text


async def test_open_prints_the_link_where_there_is_no_desktop(tmp_path: Path) -> None:
    async with running_house(tmp_path) as house:
        printed, _ = await footnote("open", folder=tmp_path)
        as_json, _ = await footnote("open", "--json", folder=tmp_path, settings=a_desktop(tmp_path))
        told, _ = await footnote("open", "--print", folder=tmp_path, settings=a_desktop(tmp_path))
        assert printed == told == f"{house.address}/?key={house.key}\n"
        assert json.loads(as_json) == {"address": f"{house.address}/", "link": printed.strip()}
        assert await signs_in(printed.strip())
    assert not (tmp_path / "opened").exists()
    assert not any(house.key in line for line in house.said)


async def test_open_hands_the_browser_a_file_that_nobody_else_reads(tmp_path: Path) -> None:
    """The arguments of a program can be read by every account of the machine."""
    async with running_house(tmp_path) as house:
        printed, said = await footnote("open", folder=tmp_path, settings=a_desktop(tmp_path))
        page = await opened(tmp_path)
        assert house.key not in printed + said
        assert house.address in said
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert f"{house.address}/?key={house.key}" in page.read_text()


async def test_a_browser_that_takes_over_the_terminal_is_not_opened(tmp_path: Path) -> None:
    desktop = a_desktop(tmp_path)
    text_browser = desktop | {"BROWSER": desktop["BROWSER"].removesuffix(" &")}
    async with running_house(tmp_path) as house:
        printed, _ = await footnote("open", folder=tmp_path, settings=text_browser)
        over_ssh = desktop | {"SSH_CONNECTION": "192.0.2.7 1 192.0.2.8 22"}
        remote, _ = await footnote("open", folder=tmp_path, settings=over_ssh)
    assert printed == remote == f"{house.address}/?key={house.key}\n"
    assert not (tmp_path / "opened").exists()


async def test_open_says_what_to_do_where_nothing_runs(tmp_path: Path) -> None:
    _, said = await footnote("open", folder=tmp_path, expect=1)
    assert "`footnote run`" in said
    assert not (tmp_path / "data" / "local-key").exists()


AT_WORK = """
import asyncio, sys
from bot.settings import read_settings
from bot.supervisor import open_house

async def work():
    async with open_house(read_settings()):
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(work())
"""


async def test_a_command_at_work_is_no_bot(tmp_path: Path) -> None:
    """While one reads a book it stands in for the bot, and has no page."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", AT_WORK),
        cwd=tmp_path,
        env=environment(tmp_path, {}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        assert await process.stdout.readline() == b"open\n"
        _, said = await footnote("open", folder=tmp_path, expect=1)
        await process.communicate(b"\n")
    assert "`footnote run`" in said


async def test_with_api_keys_the_page_asks_for_one_of_them(tmp_path: Path) -> None:
    async with running_house(tmp_path, FOOTNOTE_API_KEYS="a-key-of-the-library:admin") as house:
        printed, _ = await footnote(
            "open", folder=tmp_path, settings={"FOOTNOTE_API_KEYS": "a-key-of-the-library:admin"}
        )
    assert printed == f"{house.address}/\n"
    assert not (tmp_path / "data" / "local-key").exists()


async def test_run_opens_the_page_and_prints_the_link_when_it_is_asked_to(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *CHECKOUT.call,
        *("run", "--open"),
        cwd=tmp_path,
        env=environment(tmp_path, a_desktop(tmp_path)),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        page = await opened(tmp_path)
        key = (tmp_path / "data" / "local-key").read_text().strip()
        assert f"?key={key}" in page.read_text()
        assert process.stderr is not None
        async with asyncio.timeout(PATIENCE):
            line = b""
            while b"?key=" not in line:
                line = await process.stderr.readline()
                assert line, "it ended"
        assert await signs_in(line.decode().split()[-1])
    finally:
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0


async def test_run_shows_the_link_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *CHECKOUT.call,
        "run",
        cwd=tmp_path,
        env=environment(tmp_path, {}),
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    try:
        async with asyncio.timeout(PATIENCE):
            while b"?key=" not in said or not said.endswith(b"\n"):
                said += await asyncio.to_thread(os.read, ours, 65_536)
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()
        os.close(ours)
    key = (tmp_path / "data" / "local-key").read_text().strip()
    (line,) = [each for each in said.decode().splitlines() if key in each]
    assert line.strip().startswith("Footnote: http://127.0.0.1:")
