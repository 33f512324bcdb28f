"""Gaps and numbers as the JSON documents that HTTP and the command line share."""

from __future__ import annotations

from adapters.web.documents.answer import suggestion_document
from adapters.web.documents.values import Document
from rag_core.insight.gap import Gap
from rag_core.insight.stats import Stats, Tally


def gap_document(gap: Gap) -> Document:
    return {
        "gap_id": str(gap.gap_id),
        "state": gap.state.value,
        "example": gap.example,
        "examples": list(gap.examples),
        "count": gap.count,
        "nearest": suggestion_document(gap.nearest) if gap.nearest else None,
        "platforms": list(gap.platforms),
        "first_asked_at": gap.first_asked_at.isoformat(),
        "last_asked_at": gap.last_asked_at.isoformat(),
    }


def stats_document(stats: Stats) -> Document:
    return {
        **tally_document(stats.total),
        "seconds_to_answer": {"p50": stats.waiting.p50, "p95": stats.waiting.p95},
        "days": [
            {"day": each.day.isoformat(), **tally_document(each.tally)} for each in stats.days
        ],
        "platforms": [
            {"platform": platform, **tally_document(tally)}
            for platform, tally in sorted(stats.platforms.items())
        ],
        "channels": [
            {
                "platform": each.platform,
                "tenant": each.tenant,
                "channel_id": each.channel_id,
                **tally_document(each.tally),
            }
            for each in stats.channels
        ],
    }


def tally_document(tally: Tally) -> Document:
    return {
        "questions": tally.questions,
        "outcomes": {name: tally.outcomes.get(name, 0) for name in tally.shares},
        "shares": dict(tally.shares),
        "helpful": tally.helpful,
        "not_helpful": tally.not_helpful,
        "helpful_rate": tally.helpful_rate,
    }
