"""Processes that die: at random moments, at named points, by SIGTERM, and while the next begins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from rag_core.desk.failpoints import POINTS
from tests.faults.answering_model import CANARY
from tests.faults.checker import figures
from tests.faults.row import Outcome, Scale, judged, share
from tests.faults.shared_yard import BESIDE, shared_yard, two_processes
from tests.faults.yard import Yard, yard

PATIENCE = 180.0
CALLS_OF_AN_ANSWER = 2
"""One that searches, one that writes."""


async def kills(scale: Scale) -> Outcome:
    """kill -9 at random points that hit open work."""
    async with yard(scale.folder, seed=scale.seed, model_seconds=0.4) as place:
        return await killed(place, scale, folders=("data",))


async def kills_on_postgres(scale: Scale) -> Outcome:
    """The same with two processes on one database, of which one is killed at a time."""
    async with shared_yard(scale, model_seconds=0.4) as place:
        return await killed(place, scale, folders=("data", BESIDE))


async def killed(place: Yard, scale: Scale, *, folders: Sequence[str]) -> Outcome:
    wanted, questions = scale.of(200, least=2), scale.of(1000, least=10)
    houses = {folder: await place.start(data=folder) for folder in folders}
    for house in houses.values():
        await house.ready()
    asking = asyncio.create_task(ask_all(place, questions, over=wanted * 5.0))
    done, wasted, seen = 0, 0, 0
    while done < wanted and not (asking.done() and not place.open_work()):
        await asyncio.sleep(place.random.uniform(0.05, 0.8))
        if not place.open_work():
            continue
        folder = place.random.choice(folders)
        await houses[folder].kill()
        wasted += calls_in_vain(place, since=seen)
        done, seen = done + 1, len(place.model.calls)
        houses[folder] = await place.start(data=folder)
        await houses[folder].ready()
    await asking
    ended = await place.until_ended(within=PATIENCE)
    outcome = Outcome(figures={"kills": done, "calls_cut_by_kills": wasted})
    outcome.must(ended, "not everything ended")
    outcome.must(done >= wanted, f"only {done} of {wanted} kills hit open work")
    more = len(place.model.calls) - CALLS_OF_AN_ANSWER * questions - wasted
    outcome.figures |= {"calls_more_than_that": more, "apologies": apologies(place)}
    outcome.must(more <= 1, f"{more} model calls more than the kills cut")
    return judged(outcome, figures(place.record()))


def apologies(place: Yard) -> int:
    rows = place.rows("SELECT count(*) AS n FROM answers WHERE outcome = 'error'")
    return int(rows[0]["n"])


def calls_in_vain(place: Yard, *, since: int) -> int:
    """The model calls of this process for answers that were not stored when it died."""
    rows = place.rows("SELECT body FROM questions WHERE settled_at IS NULL")
    unsettled = {canary for row in rows for canary in CANARY.findall(row["body"])}
    return sum(call.asked in unsettled for call in place.model.calls[since:])


async def ask_all(place: Yard, questions: int, *, over: float) -> None:
    """Spread over so many seconds; a fifth of them go on in a thread that is there already."""
    channels = place.channels(20)
    for number in range(questions):
        channel = channels[number % len(channels)]
        place.ask(channel, f"thread-{number % 97}" if number % 5 == 0 else "")
        await asyncio.sleep(over / questions)


async def failpoints(scale: Scale) -> Outcome:
    """The process kills itself at each named point, twenty times each."""
    async with yard(scale.folder, seed=scale.seed, model_seconds=0.05) as place:
        return await dead_at_each_point(place, scale, more=lambda: None)


async def failpoints_on_postgres(scale: Scale) -> Outcome:
    """The same beside a process on the same database, which takes its share of what comes."""
    async with two_processes(scale, model_seconds=0.05) as place:
        channels = place.channels(40)
        return await dead_at_each_point(
            place, scale, more=lambda: place.ask(place.random.choice(channels))
        )


async def dead_at_each_point(place: Yard, scale: Scale, *, more: Callable[[], object]) -> Outcome:
    times = scale.of(20)
    outcome = Outcome(figures={"points": len(POINTS), "times_each": times, "deaths": 0})
    channels = place.channels(40)
    for point in POINTS:
        for _ in range(times):
            visit = place.random.randint(1, 3)
            house = await place.start(FOOTNOTE_FAILPOINT=f"{point}:{visit}")
            for number in range(3):
                # The first comes in a thread of its own: in one that is there already it might
                # stand behind a question that must wait until a process has lived for a while.
                goes_on = visit == 1 and number
                place.ask(place.random.choice(channels), "one" if goes_on else "")
            died = await ended_itself(house.process, more)
            outcome.figures["deaths"] += died
            outcome.must(died, f"{point}:{visit} was never reached")
            await house.kill()
    house = await place.start()
    await house.ready()
    outcome.must(await place.until_ended(within=PATIENCE), "not everything ended")
    return judged(outcome, figures(place.record()))


async def ended_itself(process: asyncio.subprocess.Process, more: Callable[[], object]) -> bool:
    """Whether it ends within forty seconds, while more is asked."""
    for _ in range(160):
        try:
            async with asyncio.timeout(0.25):
                await process.wait()
        except TimeoutError:
            more()
        else:
            return True
    return False


async def shutdown(scale: Scale) -> Outcome:
    """SIGTERM under load, and a second process that begins before the first has ended."""
    async with yard(scale.folder, seed=scale.seed, model_seconds=0.5) as place:
        return await ended_in_order(place, scale)


async def shutdown_on_postgres(scale: Scale) -> Outcome:
    """The same while another process works on the same database."""
    async with two_processes(scale, model_seconds=0.5) as place:
        return await ended_in_order(place, scale)


async def ended_in_order(place: Yard, scale: Scale) -> Outcome:
    times = scale.of(100, least=2)
    outcome = Outcome(figures={"terms": times})
    took, back = [], []
    channels = place.channels(40)
    house = await place.start()
    await house.ready()
    for number in range(times):
        for _ in range(5):
            place.ask(place.random.choice(channels))
        await asyncio.sleep(place.random.uniform(0.0, 1.0))
        overlaps = number % 2 == 1
        following = await place.start() if overlaps else None
        code, seconds = await house.terminate()
        ended = monotonic()
        took.append(seconds)
        outcome.must(code == 0, f"ended with {code} after {seconds:.1f} s")
        house = following or await place.start()
        await house.ready()
        back.append(monotonic() - ended)
    outcome.must(await place.until_ended(within=PATIENCE), "not everything ended")
    outcome.figures |= {
        "seconds_to_end_max": round(max(took), 2),
        "seconds_back_p50": round(share(back, 0.5), 2),
        "seconds_back_max": round(max(back), 2),
    }
    outcome.must(max(took) < 20, "an end took 20 s or longer")
    outcome.must(max(back) < 5, "a start took 5 s or longer")
    return judged(outcome, figures(place.record()))
