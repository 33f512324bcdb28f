"""Services that are down, late or slow; threads that are long; questions that are large."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic

from tests.faults.checker import figures
from tests.faults.row import Outcome, Scale, judged
from tests.faults.yard import QUESTION, Yard, yard

ANSWER_SECONDS = 8


async def upstreams(scale: Scale) -> Outcome:
    """The model is down, then slower than the deadline; then it is well again."""
    down_for = max(6.0, 60 * scale.share)
    outcome = Outcome(figures={"down_seconds": down_for})
    async with yard(scale.folder, seed=scale.seed) as place:
        place.settings["FOOTNOTE_ANSWER_SECONDS"] = str(ANSWER_SECONDS)
        house = await place.start()
        await house.ready()
        down = await told_while(
            place, outcome, "down", seconds=down_for, begin=partial(set_down, place)
        )
        place.model.down = False
        outcome.figures["back_after_outage"] = await recovery(place, outcome)
        slow = await told_while(
            place, outcome, "slow", seconds=down_for, begin=partial(set_slow, place)
        )
        place.model.seconds = 0.0
        outcome.figures["back_after_slowness"] = await recovery(place, outcome)
        outcome.figures |= {"sentence_after_max_down": down, "sentence_after_max_slow": slow}
        outcome.must(not uncited(place), f"{uncited(place)} uncited answers")
        return judged(outcome, figures(place.record()))


def uncited(place: Yard) -> int:
    """Answers that rest on nothing."""
    rows = place.rows(
        "SELECT count(*) AS n FROM answers a WHERE outcome IN ('completed', 'low_confidence')"
        " AND NOT EXISTS (SELECT 1 FROM citations c WHERE c.answer_id = a.answer_id)"
    )
    return int(rows[0]["n"])


def set_down(place: Yard) -> None:
    place.model.down = True


def set_slow(place: Yard) -> None:
    place.model.seconds = 600.0


async def told_while(
    place: Yard, outcome: Outcome, name: str, *, seconds: float, begin: Callable[[], None]
) -> float:
    """The longest that anybody waited for a sentence while something was in trouble."""
    begin()
    channels, longest, until = place.channels(20), 0.0, monotonic() + seconds
    while monotonic() < until:
        began = monotonic()
        for channel in channels[:3]:
            place.ask(channel)
        told = await place.until_ended(within=ANSWER_SECONDS + 12)
        longest = max(longest, monotonic() - began)
        outcome.must(told, f"nobody was told: {name}")
    outcome.must(longest < ANSWER_SECONDS + 6, f"a sentence took {longest:.1f} s: {name}")
    return round(longest, 2)


async def recovery(place: Yard, outcome: Outcome) -> float:
    """Seconds until a question is answered from the documents again."""
    began = monotonic()
    for _ in range(20):
        sent = place.ask(place.channels(1)[0])
        await place.until_ended(within=ANSWER_SECONDS + 12)
        rows = place.rows(
            "SELECT a.outcome FROM answers a JOIN questions q ON q.id = a.question"
            f" WHERE q.message_id = '{sent.message_id}'"
        )
        if rows and rows[0]["outcome"] in {"completed", "low_confidence"}:
            break
    seconds = round(monotonic() - began, 2)
    outcome.must(seconds < 10, f"recovery took {seconds} s")
    return seconds


async def long_threads(scale: Scale) -> Outcome:
    """A thread with thousands of turns, and questions of a hundred kilobytes."""
    turns = scale.of(2000, least=12)
    outcome = Outcome(figures={"turns": turns})
    async with yard(scale.folder, seed=scale.seed) as place:
        channel = place.channels(1)[0]
        house = await place.start()
        await house.ready()
        longest = 0
        for number in range(turns):
            place.ask(channel, "long")
            if number % 20 == 19 or number == turns - 1:
                outcome.must(await place.until_ended(within=120), "the thread stood still")
        for _ in range(3):
            place.ask(channel, text="error at line 12\n" * 6_000 + "\n" + QUESTION)
        outcome.must(await place.until_ended(within=60), "a large question was not answered")
        longest = max(place.model.prompt_sizes, default=0)
        outcome.figures["longest_prompt_characters"] = longest
        outcome.must(longest < 200_000, "a prompt beyond its budget")
        return judged(outcome, figures(place.record()))
