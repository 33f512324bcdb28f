"""Embedder and index: down, late, half open, or with vectors of another length."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from tests.faults.answering_model import Embeds
from tests.faults.checker import figures
from tests.faults.proxy import FaultProxy, Weather, fault_proxy
from tests.faults.row import Outcome, Scale, judged
from tests.faults.troubles import ANSWER_SECONDS, recovery, told_while, uncited
from tests.faults.yard import Yard, yard
from tests.peers.qdrant_binary import binary, serving, storage_folder

CACHE = Path(gettempdir()) / "footnote-tests-qdrant"
OTHER_DIMENSIONS = 512
EMBEDDER = {
    "FOOTNOTE_EMBEDDER": "openai",
    "FOOTNOTE_CONFIDENCE_PROFILE": "simple",
    "FOOTNOTE_ANSWER_SECONDS": str(ANSWER_SECONDS),
}
STORMS = {
    "down": Weather(refuse=1.0),
    "half_open": Weather(half_open=1.0),
    "cut": Weather(cut=1.0, cut_within=200),
    "late": Weather(latency=1.0),
}
"""What the way to the index is like; where it is late, everybody is answered all the same."""


async def services(scale: Scale) -> Outcome:
    """The embedder is down, then slower than the deadline, then of another dimension."""
    lasts = max(6.0, 60 * scale.share)
    outcome = Outcome(figures={"seconds_each": lasts})
    async with yard(scale.folder, seed=scale.seed, settings=EMBEDDER) as place:
        house = await place.start()
        await house.ready()
        embeds = place.model.embeds
        for name, values in {
            "down": {"down": True},
            "slow": {"seconds": 600.0},
            "wrong_dimension": {"dimensions": OTHER_DIMENSIONS},
        }.items():
            before = {field: getattr(embeds, field) for field in values}
            await through(place, outcome, name, seconds=lasts, begin=partial(put, embeds, values))
            put(embeds, before)
            outcome.figures[f"back_after_{name}"] = await recovery(place, outcome)
        outcome.must(not uncited(place), f"{uncited(place)} uncited answers")
        return judged(outcome, figures(place.record()))


async def index(scale: Scale) -> Outcome:
    """A Qdrant server at the end of a way that fails: refused, half open, cut, late."""
    lasts = max(6.0, 60 * scale.share)
    outcome = Outcome(figures={"seconds_each": lasts})
    async with qdrant_behind_a_proxy(scale.seed) as proxy:
        chosen = {
            "QDRANT_URL": f"http://{proxy.address}",
            "FOOTNOTE_ANSWER_SECONDS": str(ANSWER_SECONDS),
        }
        async with yard(scale.folder, seed=scale.seed, settings=chosen) as place:
            house = await place.start()
            await house.ready()
            for name, weather in STORMS.items():
                await through(
                    place, outcome, name, seconds=lasts, begin=partial(change, proxy, weather)
                )
                change(proxy, Weather())
                outcome.figures[f"back_after_{name}"] = await recovery(place, outcome)
            outcome.figures["fates"] = dict(proxy.fates)
            outcome.must(not uncited(place), f"{uncited(place)} uncited answers")
            return judged(outcome, figures(place.record()))


async def through(
    place: Yard, outcome: Outcome, name: str, *, seconds: float, begin: Callable[[], None]
) -> None:
    """Ask while this trouble lasts."""
    longest = await told_while(place, outcome, name, seconds=seconds, begin=begin)
    outcome.figures[f"sentence_after_max_{name}"] = longest


def put(embeds: Embeds, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(embeds, name, value)


def change(proxy: FaultProxy, weather: Weather) -> None:
    """From now on; connections that are open are reset, as they are when the way changes."""
    proxy.weather = weather
    proxy.reset_all()


@contextlib.asynccontextmanager
async def qdrant_behind_a_proxy(seed: int) -> AsyncIterator[FaultProxy]:
    CACHE.mkdir(exist_ok=True)
    with storage_folder() as folder, serving(binary(CACHE), folder) as server:
        host, _, port = server.url.removeprefix("http://").strip("/").partition(":")
        async with fault_proxy(host, int(port), seed=seed) as proxy:
            yield proxy
