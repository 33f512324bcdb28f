"""A host whose clock is set forward or back by an hour while people ask."""

from __future__ import annotations

import asyncio
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from tests.faults.checker import figures
from tests.faults.kills import apologies
from tests.faults.row import Outcome, Scale, judged
from tests.faults.yard import Yard, yard

HOUR = 3600
STEPS = (HOUR, 0, -HOUR, 0)
"""How far the clock is from the true time, one step after the other."""
SOURCE = Path(__file__).with_name("stepping_clock.c")
PATIENCE = 90.0


@dataclass(frozen=True)
class SteppingClock:
    """The clock of one program; needs a C compiler, because no program asks anybody else."""

    library: Path
    file: Path

    @classmethod
    def made_in(cls, folder: Path) -> SteppingClock:
        clock = cls(folder / "clock.so", folder / "clock")
        clock.set(0)
        command = ("cc", "-shared", "-fPIC", "-O1", "-o", str(clock.library), str(SOURCE))
        subprocess.run(command, check=True, capture_output=True)
        return clock

    def set(self, seconds: int) -> None:
        with self.file.open("r+b" if self.file.exists() else "w+b") as shared:
            shared.write(struct.pack("l", seconds))

    @property
    def settings(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "STEPPING_CLOCK": str(self.file)}


async def clock(scale: Scale) -> Outcome:
    """Questions in new and old threads before and after each step; every other time a kill."""
    times = scale.of(20)
    outcome = Outcome(figures={"steps": times * len(STEPS)})
    async with yard(scale.folder, seed=scale.seed, model_seconds=0.5) as place:
        clock = SteppingClock.made_in(place.folder)
        house = await place.start(**clock.settings)
        await house.ready()
        longest = 0.0
        for number in range(times):
            for step in STEPS:
                ask(place)
                await asyncio.sleep(place.random.uniform(0.0, 0.8))
                clock.set(step)
                ask(place)
                if number % 2:
                    await house.kill()
                    house = await place.start(**clock.settings)
                    # Not until it is ready: by its clock somebody may have waited for an hour.
                    await house.address()
                began = monotonic()
                ended = await place.until_ended(within=PATIENCE)
                outcome.must(ended, f"not everything ended after a step to {step} s")
                longest = max(longest, monotonic() - began)
        outcome.figures |= {"ended_after_max": round(longest, 2), "apologies": apologies(place)}
        outcome.must(not apologies(place), "a step was answered with an apology")
        return judged(outcome, figures(place.record()))


def ask(place: Yard) -> None:
    """In threads that have had questions, where the next one waits a moment, and in new ones."""
    for number, channel in enumerate(place.channels(8)):
        place.ask(channel, f"t{number}" if number % 2 else "")
