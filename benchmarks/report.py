"""One page of what is measured: each section run by itself, within its bound, and written down."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

HEAD = """# Measured

`make bench` writes this page: every figure stands beside its bare limit of the same run, which is
what the libraries beneath do without us, and beside what is wanted. `make bench-NAME` measures one
section anew and leaves the others.
"""
SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One thing that is measured."""

    name: str
    title: str
    about: str
    call: tuple[str, ...]
    seconds: float
    """After so long it is ended, and what it printed until then stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a section printed, and how it ended."""

    section: Section
    printed: str
    took: float
    fault: str = ""

    @property
    def block(self) -> str:
        """The section as it stands on the page."""
        when = f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, {self.took:.0f} s"
        fault = f"\n**Not whole: {self.fault}.**\n" if self.fault else ""
        about = f"{self.section.about} (`make bench-{self.section.name}`; {when})"
        return f"{about}\n{fault}\n```\n{self.printed.strip()}\n```\n"


async def measured(section: Section) -> Run:
    """Run a section, print what it prints, and end it when its time is up."""
    began = perf_counter()
    process = await asyncio.create_subprocess_exec(
        *section.call,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    assert process.stdout is not None
    printed, fault = [], ""
    try:
        async with asyncio.timeout(section.seconds):
            async for line in process.stdout:
                printed.append(line.decode())
                sys.stdout.write(line.decode())
            if await process.wait():
                fault = f"ended with exit code {process.returncode}"
    except TimeoutError:
        fault = f"ended after {section.seconds:.0f} s"
    finally:
        await ended(process)
    return Run(section=section, printed="".join(printed), took=perf_counter() - began, fault=fault)


async def ended(process: asyncio.subprocess.Process) -> None:
    """The section with all that it started: servers, a browser."""
    if process.returncode is None:
        os.killpg(process.pid, 15)
        try:
            async with asyncio.timeout(5):
                await process.wait()
        except TimeoutError:
            os.killpg(process.pid, 9)
            await process.wait()


def page(sections: Sequence[Section], blocks: Mapping[str, str]) -> str:
    """The whole page, in the order of the sections; what was never measured is left out."""
    parts = [HEAD]
    parts += [
        f"\n## {each.title}\n\n{blocks[each.title]}" for each in sections if each.title in blocks
    ]
    return "".join(parts)


def blocks_in(text: str) -> dict[str, str]:
    """The sections of a page by their titles."""
    _, *rest = SECTION.split(text)
    return {
        title: block.strip("\n") + "\n" for title, block in zip(rest[::2], rest[1::2], strict=True)
    }


def bench(sections: Sequence[Section], chosen: Sequence[str], file: Path) -> int:
    """Measure the chosen sections, all where none is named; 1: something is not whole."""
    blocks = blocks_in(file.read_text(encoding="utf-8")) if file.exists() else {}
    faults = []
    for section in sections:
        if chosen and section.name not in chosen:
            continue
        print(f"\n## {section.title}\n", flush=True)
        run = asyncio.run(measured(section))
        blocks[section.title] = run.block
        if run.fault:
            faults.append(f"{section.name}: {run.fault}")
        file.write_text(page(sections, blocks), encoding="utf-8")
    print("\n".join(faults) or f"\nwritten to {file.name}", flush=True)
    return 1 if faults else 0


def machine() -> str:
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cores} cores, {memory:.0f} GB, Python {platform.python_version()}"
