"""What is used of the limits, and how today's questions ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adapters.steward import Finding
from bot.examination.look import Check, in_place, missing
from bot.services import Services
from rag_core.books.policy import Place
from rag_core.insight.stats import Tally

MOST_FAILED = 0.1
"""Of a day's answers: more errors than this are a reason to look."""
SHOWN = 3


def of_usage(services: Services, within: Place | None) -> Sequence[Check]:
    """`within` shows the numbers of one server or workspace alone."""

    async def budget() -> Sequence[Finding]:
        used = await services.stores.usage.tokens_lately()
        if within is not None:
            name = (within.platform.value, str(within.tenant))
            used = {name: used.get(name, 0)}
        return [budget_finding(used, services.settings.tenant_tokens_day or 0)]

    async def questions() -> Sequence[Finding]:
        stats = await services.stores.stats.last_days(1)
        return [questions_finding(stats.total, await services.stores.ledger.waiting())]

    return [
        Check(name="budget", look=budget, advice="Start the database."),
        Check(name="questions", look=questions, advice="Start the database."),
    ]


def budget_finding(used: Mapping[tuple[str, str], int], limit: int) -> Finding:
    total = sum(used.values())
    if not limit:
        return in_place("budget", f"{total} tokens in the last 24 hours; no limit is set.")
    most = [
        f"{platform} {tenant} {tokens} of {limit} ({tokens / limit:.0%})"
        for (platform, tenant), tokens in list(used.items())[:SHOWN]
    ]
    detail = f"{total} tokens in the last 24 hours: {', '.join(most) or 'nobody asked'}."
    if any(tokens >= limit for tokens in used.values()):
        advice = "Raise FOOTNOTE_TENANT_TOKENS_DAY, or wait: it counts the last 24 hours."
        return missing("budget", detail, advice)
    return in_place("budget", detail)


def questions_finding(today: Tally, waiting: int) -> Finding:
    failed, answered = today.outcomes.get("error", 0), sum(today.outcomes.values())
    detail = f"{today.questions} today, {failed} ended with an error; {waiting} are open."
    if failed > MOST_FAILED * answered:
        advice = "Look for the reasons in the log; the other findings may name them."
        return missing("questions", detail, advice)
    return in_place("questions", detail)
