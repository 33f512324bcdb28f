"""Faults of discord.py that are worked around: still there, or the way round can go."""

from __future__ import annotations

import asyncio
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UPSTREAM = ROOT / "docs" / "upstream"
REPRODUCTIONS = sorted(path.stem for path in UPSTREAM.glob("*.py"))


def test_there_are_reproductions() -> None:
    assert REPRODUCTIONS == ["cancelled_global_pause", "ratelimit_with_room"]


@pytest.mark.parametrize("name", REPRODUCTIONS)
async def test_the_library_still_has_the_fault(name: str) -> None:
    """Where this fails, the library is mended: take out what its page names."""
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        str(UPSTREAM / f"{name}.py"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(30):
        said, _ = await program.communicate()
    assert program.returncode == 0, said.decode()
    shown = [line for line in said.decode().splitlines() if line]
    page = (UPSTREAM / f"{name}.md").read_text()
    assert all(line in page for line in shown), "the page shows what the program says"


def test_a_library_whose_insides_are_used_is_capped_below_its_next_minor_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [wanted] = [each for each in project["dependencies"] if each.startswith("discord.py")]
    assert wanted == "discord.py>=2.7.1,<2.8"
