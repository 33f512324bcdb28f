"""`/livez`, `/readyz` and `/metrics`: for whoever watches the process."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from adapters.web.documents.schemas import AliveModel, ReadyModel, problems
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import RETRY_SECONDS, Problem
from adapters.web.parts import WebParts

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class HealthRoutes:
    """Says whether the process lives, whether it can answer, and what it counted."""

    def __init__(self, parts: WebParts) -> None:
        self._readiness = parts.readiness
        self._metrics = parts.metrics

    def router(self) -> APIRouter:
        router = APIRouter(tags=["health"])
        router.add_api_route("/livez", self.alive, methods=["GET"], response_model=AliveModel)
        router.add_api_route(
            "/readyz",
            self.ready,
            methods=["GET"],
            response_model=ReadyModel,
            responses=problems(503),
        )
        router.add_api_route(
            "/metrics",
            self.metrics,
            methods=["GET"],
            response_class=Response,
            responses={
                200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
                **problems(401, 403, 429),
            },
        )
        return router

    async def alive(self) -> Response:
        return JSONResponse({"status": "alive"})

    async def ready(self, request: Request) -> Response:
        """A no is an answer to whoever watches, and no error of ours: it is not logged as one."""
        readiness = await self._readiness()
        checks = dict(readiness.checks)
        if readiness.ready:
            return JSONResponse(
                {"status": "ready", "checks": checks, "figures": dict(readiness.figures)}
            )
        missing = ", ".join(name for name, there in checks.items() if not there)
        not_ready = Problem(
            503,
            f"Not ready yet: {missing}.",
            headers={"Retry-After": str(RETRY_SECONDS)},
            checks=checks,
            figures=dict(readiness.figures),
        )
        return not_ready.response(request.headers.get("accept", ""))

    async def metrics(self, caller: CallerOf) -> Response:
        if caller.own_books is not None:
            raise Problem(403, "Metrics count the whole house: use an admin key without books.")
        return Response(await self._metrics(), media_type=PROMETHEUS)
