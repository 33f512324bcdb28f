"""Counts over questions, answers and ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from math import ceil

from sqlalchemy import bindparam, func, literal, select

from rag_core.books.book import BookIds
from rag_core.insight.stats import ChannelTally, DayTally, Stats, Tally, Waiting
from rag_core.storage import schema
from rag_core.storage.engines.codec import from_time, is_looked_up_within, to_time
from rag_core.storage.engines.engine import Database, Row
from rag_core.storage.engines.statement import Statement

questions, answers, feedback = schema.questions, schema.answers, schema.feedback
turns = schema.turns

SAMPLE = 10_000
"""The newest answers say how long answers take."""
CHANNELS = 50
PERSONAL = {"web", "cli"}
"""There a channel is a person, and nobody is counted."""

PLACE = (questions.c.platform, questions.c.tenant, questions.c.channel_id)
DAY = func.substr(questions.c.accepted_at, 1, 10)
SINCE = questions.c.accepted_at >= bindparam("since")
COUNTS = Statement(
    select(DAY.label("day"), *PLACE, answers.c.outcome, func.count().label("questions"))
    .select_from(questions.outerjoin(answers))
    .where(SINCE)
    .group_by(DAY, *PLACE, answers.c.outcome)
)
RATINGS = Statement(
    select(DAY.label("day"), *PLACE, feedback.c.helpful, func.count().label("ratings"))
    .select_from(questions.join(answers).join(feedback))
    .where(SINCE)
    .group_by(DAY, *PLACE, feedback.c.helpful)
)
TIMES = Statement(
    select(questions.c.accepted_at, questions.c.settled_at)
    .where(SINCE)
    .order_by(questions.c.accepted_at.desc())
    .limit(SAMPLE)
)
OF_BOOKS = 50_000
"""The newest answers are gone through for those of some books."""
LOOKED_UP = Statement(
    select(
        DAY.label("day"),
        *PLACE,
        answers.c.outcome,
        answers.c.answer_id,
        questions.c.accepted_at,
        questions.c.settled_at,
        turns.c.retrievals,
        literal(1).label("questions"),
    )
    .select_from(questions.join(answers).join(turns, turns.c.question == questions.c.id))
    .where(SINCE)
    .order_by(questions.c.accepted_at.desc())
    .limit(OF_BOOKS)
)
RATED = Statement(
    select(
        DAY.label("day"),
        *PLACE,
        feedback.c.helpful,
        answers.c.answer_id,
        literal(1).label("ratings"),
    )
    .select_from(questions.join(answers).join(feedback))
    .where(SINCE)
)


@dataclass
class Count:
    """A tally while it is counted."""

    questions: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    ratings: Counter[bool] = field(default_factory=Counter)

    def tally(self) -> Tally:
        return Tally(
            questions=self.questions,
            outcomes=dict(self.outcomes),
            helpful=self.ratings[True],
            not_helpful=self.ratings[False],
        )


Named = Callable[[Row], tuple[str, ...]]


class StatsRecords:
    """Reads the numbers; what was deleted is not counted any more."""

    def __init__(
        self, database: Database, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._now = now

    async def last_days(self, days: int, *, books: BookIds | None = None) -> Stats:
        today = self._now().astimezone(UTC).date()
        stretch = [today - timedelta(days=back) for back in reversed(range(days))]
        since = to_time(datetime(*stretch[0].timetuple()[:3], tzinfo=UTC))
        if books is None:
            counts = await self._database.rows(COUNTS, since=since)
            ratings = await self._database.rows(RATINGS, since=since)
            times = await self._database.rows(TIMES, since=since)
        else:
            counts = times = await self._answered_from(books, since=since)
            own = {row["answer_id"] for row in counts}
            rated = await self._database.rows(RATED, since=since)
            ratings = [row for row in rated if row["answer_id"] in own]

        def by(named: Named) -> Mapping[tuple[str, ...], Tally]:
            return counted(counts, ratings, named)

        daily = by(lambda row: (row["day"],))
        return Stats(
            days=tuple(DayTally(day=day, tally=daily.get(key(day), Tally())) for day in stretch),
            total=by(lambda row: ()).get((), Tally()),
            waiting=waiting(times),
            platforms={names[0]: each for names, each in by(lambda r: (r["platform"],)).items()},
            channels=channels(by(channel)),
        )

    async def _answered_from(self, books: BookIds, *, since: str) -> Sequence[Row]:
        """A row for each answer that was looked up in these books alone."""
        rows = await self._database.rows(LOOKED_UP, since=since)
        return [row for row in rows if is_looked_up_within(row, books)]


def key(day: date) -> tuple[str, ...]:
    return (day.isoformat(),)


def counted(
    counts: Iterable[Row], ratings: Iterable[Row], named: Named
) -> Mapping[tuple[str, ...], Tally]:
    """The rows put together under the names that they are given."""
    found: dict[tuple[str, ...], Count] = {}
    for row in counts:
        count = found.setdefault(named(row), Count())
        count.questions += row["questions"]
        if row["outcome"] is not None:
            count.outcomes[row["outcome"]] += row["questions"]
    for row in ratings:
        found.setdefault(named(row), Count()).ratings[bool(row["helpful"])] += row["ratings"]
    return {names: count.tally() for names, count in found.items()}


def channel(row: Row) -> tuple[str, ...]:
    shown = "" if row["platform"] in PERSONAL else row["channel_id"]
    return row["platform"], row["tenant"], shown


def channels(tallies: Mapping[tuple[str, ...], Tally]) -> tuple[ChannelTally, ...]:
    busiest = sorted(tallies.items(), key=lambda each: (-each[1].questions, each[0]))[:CHANNELS]
    return tuple(
        ChannelTally(platform=platform, tenant=tenant, channel_id=channel_id, tally=tally)
        for (platform, tenant, channel_id), tally in busiest
    )


def waiting(times: Sequence[Row]) -> Waiting:
    """How long askers waited, queue included."""
    seconds = sorted(
        (from_time(row["settled_at"]) - from_time(row["accepted_at"])).total_seconds()
        for row in times
        if row["settled_at"] is not None
    )
    if not seconds:
        return Waiting()
    return Waiting(p50=percentile(seconds, 0.5), p95=percentile(seconds, 0.95))


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that so many are not above."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]
