"""The dashboard's numbers and gaps as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.web.pages.admin_frame import (
    items,
    no_items,
    none,
    options,
    percent,
    row,
    rows,
    seconds,
)
from adapters.web.pages.markdown import leads_out
from adapters.web.pages.templates import NOTHING, Html, fill, joined
from rag_core.insight.export import named
from rag_core.insight.gap import Gap, GapState
from rag_core.insight.stats import ChannelTally, DayTally, Stats, Tally

STRETCHES = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("366", "year"))
STATES = tuple((state.value, state.value) for state in GapState)


def numbers_html(stats: Stats) -> Html:
    days = str(len(stats.days))
    return fill(
        "admin-numbers",
        days=days,
        stretches=options(STRETCHES, days),
        tiles=tiles_html(stats),
        by_day=joined([day_row(each) for each in reversed(stats.days)]),
        ratings=ratings_html(stats.total),
        by_channel=rows(
            [channel_row(each) for each in stats.channels],
            columns=8,
            otherwise="Nothing was asked in this time.",
        ),
    )


def tiles_html(stats: Stats) -> Html:
    shares = stats.total.shares
    told = {
        "questions": str(stats.total.questions),
        "answered": percent(shares["completed"]),
        "with caution": percent(shares["low_confidence"]),
        "refused": percent(shares["no_results"]),
        "failed": percent(shares["error"]),
        "rated helpful": percent(stats.total.helpful_rate),
        "to an answer, half of them": seconds(stats.waiting.p50),
        "to an answer, 95 of 100": seconds(stats.waiting.p95),
    }
    return joined(
        [fill("admin-tile", number=number, words=words) for words, number in told.items()]
    )


def ratings_html(total: Tally) -> Html:
    """The chart of ratings; without any, an empty one would say less than a sentence."""
    if total.helpful_rate is None:
        return none("Nobody has rated an answer in this time.")
    return fill("admin-ratings")


def day_row(each: DayTally) -> Html:
    tally = each.tally
    return row(
        each.day.isoformat(),
        str(tally.questions),
        *(str(tally.outcomes.get(name, 0)) for name in tally.shares),
        str(tally.helpful),
        str(tally.not_helpful),
    )


def channel_row(each: ChannelTally) -> Html:
    return row(
        each.platform,
        each.tenant,
        each.channel_id or "all",
        str(each.tally.questions),
        *shares_of(each.tally),
        percent(each.tally.helpful_rate),
    )


def shares_of(tally: Tally) -> Sequence[str]:
    return [percent(tally.shares[name]) for name in ("completed", "low_confidence", "no_results")]


def gaps_html(gaps: Sequence[Gap], state: GapState | None) -> Html:
    chosen = state.value if state else ""
    return fill(
        "admin-gaps",
        states=options((("", "all"), *STATES), chosen),
        query=f"?state={chosen}" if chosen else "",
        gaps=joined([gap_html(gap) for gap in gaps]) or no_items("Nothing was asked in vain."),
    )


def gap_html(gap: Gap) -> Html:
    return fill(
        "admin-gap",
        gap_id=str(gap.gap_id),
        kind=gap.state.value,
        example=gap.example,
        times="asked once" if gap.count == 1 else f"asked {gap.count} times",
        near=near_html(gap),
        also=fill("admin-also", examples=items(gap.examples)) if gap.examples else NOTHING,
        states=options(STATES, gap.state.value),
        last=f"{gap.last_asked_at:%d %b %Y}",
        platforms=", ".join(gap.platforms),
    )


def near_html(gap: Gap) -> Html | str:
    if gap.nearest is None:
        return "No section comes near."
    words = named(gap.nearest)
    if gap.nearest.page_url and leads_out(gap.nearest.page_url):
        return fill("admin-near", address=gap.nearest.page_url, words=words)
    return f"Nearest section: {words}"
