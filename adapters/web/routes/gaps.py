"""`/gaps` and `/stats`: what the documents lack, and how the answers do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from adapters.web.documents.bodies import GapBody
from adapters.web.documents.insight import gap_document, stats_document
from adapters.web.documents.insight_schemas import GapsModel, StatsModel
from adapters.web.documents.schemas import problems
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import not_found
from adapters.web.parts import WebParts
from rag_core.insight.export import as_csv, as_markdown
from rag_core.insight.gap import Gap, GapState

LISTED, EXPORTED = 50, 500
MAX_DAYS = 366

State = Annotated[
    Literal["open", "planned", "answered"] | None, Query(description="Only gaps in this state.")
]
Limit = Annotated[int, Query(ge=1, le=EXPORTED)]
Days = Annotated[int, Query(ge=1, le=MAX_DAYS)]


class InsightRoutes:
    """What was asked in vain, and the numbers; for whoever keeps the documents."""

    def __init__(self, parts: WebParts) -> None:
        self._gaps = parts.gaps
        self._stats = parts.stats

    def router(self) -> APIRouter:
        router = APIRouter(tags=["insight"])
        refused = problems(401, 403, 422, 429, 503)
        router.add_api_route(
            "/gaps", self.listed, methods=["GET"], response_model=GapsModel, responses=refused
        )
        for kind, made in (("markdown", self.markdown), ("csv", self.csv)):
            router.add_api_route(
                f"/gaps/{kind}",
                made,
                methods=["GET"],
                response_class=Response,
                responses={
                    200: {"content": {f"text/{kind}": {"schema": {"type": "string"}}}},
                    **refused,
                },
            )
        router.add_api_route(
            "/gaps/{gap_id:uuid}",
            self.change,
            methods=["PATCH"],
            status_code=204,
            response_class=Response,
            responses={**refused, **problems(404, 413)},
        )
        router.add_api_route(
            "/stats", self.stats, methods=["GET"], response_model=StatsModel, responses=refused
        )
        return router

    async def listed(
        self, caller: CallerOf, state: State = None, limit: Limit = LISTED
    ) -> Response:
        gaps = await self._found(caller, state, limit)
        return JSONResponse({"gaps": [gap_document(gap) for gap in gaps]})

    async def markdown(self, caller: CallerOf, state: State = None) -> Response:
        gaps = await self._found(caller, state, EXPORTED)
        return file(as_markdown(gaps), "markdown", "gaps.md")

    async def csv(self, caller: CallerOf, state: State = None) -> Response:
        gaps = await self._found(caller, state, EXPORTED)
        return file(as_csv(gaps), "csv", "gaps.csv")

    async def change(self, gap_id: UUID, body: GapBody, caller: CallerOf) -> Response:
        """A gap that other books share is theirs as well: the whole house's admin changes it."""
        state = GapState(body.state)
        if not await self._gaps.set_state(gap_id, state, books=caller.own_books):
            raise not_found("gap")
        return Response(status_code=204)

    async def stats(self, caller: CallerOf, days: Days = 30) -> Response:
        stats = await self._stats.last_days(days, books=caller.own_books)
        return JSONResponse(stats_document(stats))

    async def _found(self, caller: Caller, state: str | None, limit: int) -> Sequence[Gap]:
        await self._gaps.refresh()
        return await self._gaps.listed(books=caller.own_books, states=states(state), limit=limit)


def states(state: str | None) -> tuple[GapState, ...]:
    return (GapState(state),) if state else ()


def file(text: str, kind: str, name: str) -> Response:
    return Response(
        text,
        media_type=f"text/{kind}",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
