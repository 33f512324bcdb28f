"""Thousands of idle and half-open connections beside people who ask."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

import httpx

from tests.faults.idle_crowd import idle_crowd
from tests.faults.loads import held
from tests.faults.noting import Noted
from tests.faults.probing import SLACK_PATH, probing
from tests.faults.row import Outcome, Scale, share
from tests.faults.yard import QUESTION, House, Yard, yard
from tests.peers.slack_sender import SIGNING_SECRET

ASKERS = 50
PAUSE_SECONDS = 2.0
MODEL_SECONDS = 0.5
LIMITS = {
    "raised": ("sh", "-c", 'ulimit -Sn 1024; exec "$@"', "sh"),
    "few": ("sh", "-c", 'ulimit -n 512; exec "$@"', "sh"),
}
"""How many files may be open: the program raises its limit, or may not have more."""
STAYS_OPEN = "raised"
"""Where the crowd stays connected. With few files it is closed and comes back thousands of times a
second, on the same cores as the program: there nobody may fail, and health answers in time."""
PROBES = ("/livez", "/readyz", SLACK_PATH)
LOG_BYTES_A_SECOND = 1_024
TOO_LATE = "health or Slack took 1 s or longer"
TWICE = "askers waited more than twice as long"


@dataclass
class Asking:
    """How long each question took, and how many were not answered."""

    waited: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)


async def connections(scale: Scale) -> Outcome:
    """Fifty people ask beside a crowd that wants nothing, and before and after it."""
    number, seconds = scale.of(5_000, least=700), max(5.0, 20 * scale.share)
    keys = [f"key-of-asker-{asker:04d}" for asker in range(ASKERS)]
    settings = {
        "FOOTNOTE_API_KEYS": ",".join(f"{key}:ask:library" for key in keys),
        "FOOTNOTE_PARALLEL_ANSWERS": str(ASKERS),
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
    }
    outcome = Outcome(figures={"connections": number, "seconds": seconds})
    async with yard(
        scale.folder, seed=scale.seed, model_seconds=MODEL_SECONDS, settings=settings
    ) as place:
        for name, within in LIMITS.items():
            house = await place.start(within=within)
            await house.ready()
            await beside_a_crowd(place, house, outcome, name, keys, number, seconds)
            await house.terminate()
    return outcome


async def beside_a_crowd(
    place: Yard,
    house: House,
    outcome: Outcome,
    name: str,
    keys: Sequence[str],
    number: int,
    seconds: float,
) -> None:
    address = await house.address()
    await ask_all(address, keys, seconds=1.0)  # what the first answers of a process need
    alone, before = await ask_all(address, keys, seconds=seconds), held(house)["memory_mb"]
    async with idle_crowd(address, number=number, seed=place.random.randrange(1000)) as crowd:
        written, began = fault_bytes(house), monotonic()
        async with probing_all(address) as probes:
            beside = await ask_all(address, keys, seconds=seconds)
        grown = (fault_bytes(house) - written) / (monotonic() - began)
        memory = held(house)["memory_mb"] - before
    after = await ask_all(address, keys, seconds=seconds)
    alone = Asking([*alone.waited, *after.waited], alone.failed + after.failed)
    slowest = {path: max(noted.waited, default=0.0) for path, noted in probes.items()}
    outcome.figures[name] = {
        "open_at_most": crowd.most,
        "came": crowd.came,
        "probes": {path: len(noted.waited) for path, noted in probes.items()},
        "slowest_ms": {path: round(value * 1000, 1) for path, value in slowest.items()},
        "asked": [len(alone.waited), len(beside.waited)],
        "asked_p50_ms": milliseconds(alone, beside, 0.5),
        "asked_p95_ms": milliseconds(alone, beside, 0.95),
        "log_bytes_a_second": round(grown),
        "memory_grown_mb": round(memory, 1),
    }
    outcome.must(crowd.came >= number, "not all of the crowd came")
    outcome.must(all(len(noted.waited) >= seconds for noted in probes.values()), "few probes")
    outcome.must(max(slowest.values()) < 1.0, TOO_LATE)
    outcome.must(not alone.failed, f"questions failed alone: {dict(alone.failed)}")
    outcome.must(not beside.failed, f"questions failed beside the crowd: {dict(beside.failed)}")
    if name == STAYS_OPEN:
        outcome.must(share(beside.waited, 0.95) <= 2 * share(alone.waited, 0.95), TWICE)
    outcome.must(grown < LOG_BYTES_A_SECOND, "the log grew by 1 kB/s or more")


def fault_bytes(house: House) -> int:
    """How much of the log is not of ordinary work, which has two lines for each question."""
    return sum(len(line) + 1 for line in house.said("") if '"level": "info"' not in line)


def milliseconds(alone: Asking, beside: Asking, part: float) -> list[float]:
    return [round(share(each.waited, part) * 1000, 1) for each in (alone, beside)]


async def ask_all(address: str, keys: Sequence[str], *, seconds: float) -> Asking:
    """Everybody asks, waits for the answer and asks again a little later, for so long."""
    asking, began = Asking(), monotonic()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with (
        httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as web,
        asyncio.TaskGroup() as tasks,
    ):
        for at, key in enumerate(keys):
            first = began + PAUSE_SECONDS * at / len(keys)
            tasks.create_task(ask_again(web, key, asking, first=first, until=began + seconds))
    return asking


async def ask_again(
    web: httpx.AsyncClient, key: str, asking: Asking, *, first: float, until: float
) -> None:
    await asyncio.sleep(max(0.0, first - monotonic()))
    while (began := monotonic()) < until:
        headers = {"Authorization": f"Bearer {key}"}
        try:
            answer = await web.post("/chat/run", json={"message": QUESTION}, headers=headers)
            answer.raise_for_status()
        except httpx.HTTPStatusError as error:
            asking.failed[str(error.response.status_code)] += 1
        except httpx.TransportError as error:
            asking.failed[type(error).__name__] += 1
        else:
            asking.waited.append(monotonic() - began)
        await asyncio.sleep(PAUSE_SECONDS)


@contextlib.asynccontextmanager
async def probing_all(address: str) -> AsyncIterator[dict[str, Noted]]:
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        yield {path: await enter(probing(address, path)) for path in PROBES}
