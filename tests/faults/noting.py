"""Something that is timed again and again beside a row, in a process of its own: the stand-ins keep
this one's interpreter busy."""

from __future__ import annotations

import asyncio
import contextlib
import select
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from time import monotonic

from tests.flow.running_house import ROOT


@dataclass
class Noted:
    """How many seconds each took."""

    waited: list[float] = field(default_factory=list)


@contextlib.asynccontextmanager
async def noting(module: str, what: str) -> AsyncIterator[Noted]:
    """What the module notes when it is run with this, until the block ends or it ends by itself."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, what),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    noted = Noted()
    try:
        yield noted
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        said, _ = await process.communicate()
        noted.waited = [float(line) for line in said.split() if line]


def note(
    work: Callable[[], None], *, every: float, until: tuple[type[Exception], ...] = ()
) -> None:
    """Do it again and again, until it ends in one of these ways or the row is gone, which holds the
    other end of our input. The times are told at the end: nobody reads them before, and a full pipe
    holds up."""
    waited: list[float] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        is_alone = False
        while not is_alone:
            began = monotonic()
            work()
            waited.append(monotonic() - began)
            is_alone = bool(select.select([sys.stdin], [], [], every)[0])
    except until:
        pass
    finally:
        print("\n".join(f"{each:.5f}" for each in waited))
