"""All platforms at once in one process, under the desk's load, with everything that goes wrong."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from time import monotonic

from tests.faults.crowd import Crowd
from tests.faults.disk_wait import disk_waits
from tests.faults.havoc import Havoc
from tests.faults.judgement import Life, Run, judgement
from tests.faults.knocking import knocking
from tests.faults.lag import being_read, big_book
from tests.faults.loads import MODEL_SECONDS, held, warm
from tests.faults.proxy import FaultProxy
from tests.faults.row import Outcome, Scale
from tests.faults.services import qdrant_behind_a_proxy
from tests.faults.visitors import Visitors
from tests.faults.yard import House, Yard, yard
from tests.flow.running_house import local_key

WHOLE_SECONDS, LEAST_SECONDS = 1800.0, 120.0
LIVES = 3
"""One that is ended by SIGTERM, one that is killed while it reads a book, and one that lasts."""
WARM_AT = 0.3
A_STORM_EVERY = 120.0
END_SECONDS = 20.0
PATIENCE = 180.0
READING = "SELECT job_id FROM jobs WHERE status IN ('queued', 'running')"
INDEX_SECONDS = 60.0
"""In which the index of a book that has been read is built anew."""
TAKEN_AWAY = ("thread_not_found", "message_not_found")
"""What Slack says where somebody has deleted the question that is being answered."""


async def everything(scale: Scale) -> Outcome:
    """Twenty questions a second in Slack, in Discord and over HTTP, for half an hour."""
    return await a_day(scale, index=None)


async def everything_on_a_server(scale: Scale) -> Outcome:
    """The same where the index is a Qdrant server, and the way to it is what fails."""
    async with qdrant_behind_a_proxy(scale.seed) as index:
        return await a_day(scale, index=index)


async def a_day(scale: Scale, *, index: FaultProxy | None) -> Outcome:
    seconds = max(LEAST_SECONDS, WHOLE_SECONDS * scale.share)
    chosen = {"FOOTNOTE_PARALLEL_ANSWERS": "128"}
    if index is not None:
        chosen["QDRANT_URL"] = f"http://{index.address}"
    async with yard(
        scale.folder,
        seed=scale.seed,
        model_seconds=MODEL_SECONDS,
        with_discord=True,
        settings=chosen,
    ) as place:
        place.slack.foresees(*TAKEN_AWAY)
        big_book(place.folder / "big", megabytes=scale.of(50, least=2))
        return judgement(await Day(place, Havoc(place, index)).lived(seconds / LIVES))


class Day:
    """The lives of the program, one after the other; the crowd does not go away meanwhile."""

    def __init__(self, place: Yard, havoc: Havoc) -> None:
        self._place = place
        self._havoc = havoc
        self._address = ""
        self._visitors = Visitors(
            place.random, lambda: self._address, key=lambda: local_key(place.folder / "data")
        )
        self._crowd = Crowd(place, self._visitors, lambda: havoc.is_heard)
        self._run = Run(place, self._crowd, havoc)

    async def lived(self, life_seconds: float) -> Run:
        house = await self._begun()
        await warm(self._place)
        async with self._going_on(LIVES * life_seconds):
            await self._life(house, life_seconds, "until SIGTERM")
            async with self._havoc.restart():
                self._run.endings.append(await house.terminate(within=END_SECONDS))
                house = await self._begun()
            async with being_read(self._place, self._place.folder / "big"):
                await self._life(house, life_seconds, "while it reads, until kill -9", reads=True)
                async with self._havoc.restart():
                    await house.kill()
                    house = await self._begun()
            await self._life(house, life_seconds, "to the end")
        await self._visitors.gone()
        self._run.everything_ended = await self._quiet()
        return self._run

    async def _begun(self) -> House:
        house = await self._place.start()
        self._address = (await house.address()).rstrip("/")
        self._run.back_after.append(await house.ready())
        return house

    async def _life(self, house: House, seconds: float, name: str, *, reads: bool = False) -> None:
        """Some storms, and what the process holds once it is warm and at the end."""
        life, began = Life(name, seconds * WARM_AT, reads), monotonic()
        self._run.lives.append(life)
        warming = asyncio.create_task(self._warmed_up(life, house))
        async with knocking(self._address) as knocks, disk_waits(self._place.folder) as disk:
            await until(began + seconds * WARM_AT)
            storms = max(1, round(seconds * (1 - WARM_AT) / A_STORM_EVERY))
            for number in range(storms):
                share = WARM_AT + (1 - WARM_AT) * (number + 0.5) / storms
                await until(began + seconds * share)
                await self._havoc.storm()
            await until(began + seconds)
            life.end = held(house)
        warming.cancel()
        life.knocks, life.disk = knocks.waited, disk.waited

    async def _warmed_up(self, life: Life, house: House) -> None:
        """Note what the process holds then: where it goes on with a book, once that is read and
        the index has found its form."""
        await asyncio.sleep(life.warm_after)
        if not life.reads:
            await self._read_to_the_end(life)
        life.warm = held(house)

    async def _read_to_the_end(self, life: Life) -> None:
        """A life that ends before this does is one that reads."""
        while self._place.rows(READING):
            life.reads = True
            await asyncio.sleep(1.0)
        if life.reads:
            await asyncio.sleep(INDEX_SECONDS)
        life.reads = False

    @contextlib.asynccontextmanager
    async def _going_on(self, seconds: float) -> AsyncIterator[None]:
        """While this lasts, people come and calls go wrong; at its end the last one has come."""
        coming = asyncio.create_task(self._crowd.come(seconds))
        going_wrong = asyncio.create_task(self._havoc.last())
        try:
            yield
            await coming
        finally:
            for task in (coming, going_wrong):
                task.cancel()
            await asyncio.gather(coming, going_wrong, return_exceptions=True)

    async def _quiet(self) -> bool:
        """Whether all that was asked in a chat and not taken back was accepted and has ended."""
        wanted = {sent.message_id for sent in self._place.sent if not sent.withdrawn}
        accepted = "SELECT message_id FROM questions WHERE platform <> 'web'"
        give_up = monotonic() + PATIENCE
        while monotonic() < give_up:
            if not self._place.open_work():
                known = {row["message_id"] for row in self._place.rows(accepted)}
                if wanted <= known:
                    return True
            await asyncio.sleep(0.5)
        return False


async def until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - monotonic()))
