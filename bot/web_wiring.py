"""What the web door is handed of the open house."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any

from adapters.web.parts import Readiness, WebParts
from bot.services import Services
from rag_core.books.starters import Starters

AsksReadiness = Callable[[], Awaitable[Readiness]]


def starters_of(services: Services) -> Starters:
    """Questions for somebody's first visit."""
    return Starters(
        books=services.stores.books,
        files=services.stores.jobs,
        passages=services.vectors,
        retriever=services.retriever,
        judge=services.judge,
    )


def web_parts(services: Services, readiness: AsksReadiness, mounts: Mapping[str, Any]) -> WebParts:
    async def metrics() -> bytes:
        return services.metrics.page(waiting=await services.stores.ledger.waiting())

    return WebParts(
        starters=starters_of(services),
        desk=services.desk,
        replies=services.web_replies,
        conversations=services.stores.conversations,
        answers=services.stores.ledger,
        retriever=services.retriever,
        passages=services.vectors,
        library=services.library,
        books=services.stores.books,
        jobs=services.stores.jobs,
        ingestion=services.ingestion,
        feedback=services.stores.feedback,
        gaps=services.gaps,
        stats=services.stores.stats,
        stories=services.stores.stories,
        policies=services.stores.policies,
        sign_ins=services.stores.sign_ins,
        readiness=readiness,
        metrics=metrics,
        sources=services.timetable,
        tickets=services.stores.tickets,
        staffing=services.staffing,
        writing=services.staff_writing,
        mounts=mounts,
        version=version("footnote-bot"),
    )
