"""The private door: the same HTTP for the command line, on a socket that file rights protect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, Protocol

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.steward import Finding
from adapters.web.app import create_api
from adapters.web.config import WebConfig
from adapters.web.documents.values import tenant_document
from adapters.web.guarding.body import BodyLimit
from adapters.web.guarding.caller import PRIVATE
from adapters.web.guarding.problems import LastResort
from adapters.web.parts import WebParts
from adapters.web.routes.shelves import KeepsShelves, shelf_routes
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import KnownTenant, Trust

MAX_BODY = 1024 * 1024


class ServesOwner(Protocol):
    """What only the owner of the data folder may ask for."""

    async def examine(self) -> Sequence[Finding]:
        """What is in place and what is missing."""
        ...

    async def page(self) -> Mapping[str, Any]:
        """Where the web page is, and the link that signs a browser in; None: there is no page."""
        ...

    async def backup(self, file: Path) -> Mapping[str, Any]:
        """Copy the whole house into a file that is not there yet."""
        ...

    async def forget(
        self, platform: Platform, *, user: str | None, tenant: str | None
    ) -> Mapping[str, Any]:
        """Forget one person or one server; what was forgotten, in numbers."""
        ...

    async def decide(self, tenant: TenantId, trust: Trust) -> KnownTenant:
        """Serve a Discord server or Slack workspace, or do not."""
        ...


class Decision(BaseModel):
    """What the operator decides about a server or workspace."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=40)
    trust: Literal[Trust.ALLOWED, Trust.DENIED]


class ForgetRequest(BaseModel):
    """Whose questions are to be forgotten: one person's, or a whole server's or workspace's."""

    model_config = ConfigDict(extra="forbid")

    platform: Platform
    user: str | None = Field(default=None, min_length=1)
    tenant: str | None = Field(default=None, min_length=1)


class BackupRequest(BaseModel):
    """Where a backup goes."""

    model_config = ConfigDict(extra="forbid")

    file: Path


def create_door(
    parts: WebParts,
    config: WebConfig | None = None,
    *,
    owner: ServesOwner | None = None,
    shelves: KeepsShelves | None = None,
) -> FastAPI:
    """HTTP for a caller who may do everything, to be served on a socket of the data folder."""
    app = create_api(parts, config or WebConfig())
    if owner is not None:
        app.include_router(owner_routes(owner), include_in_schema=False)
    if shelves is not None:
        app.include_router(shelf_routes(shelves), include_in_schema=False)
    app.add_middleware(BodyLimit, max_body=MAX_BODY, seconds=20.0)
    app.add_middleware(Trusted)
    app.add_middleware(LastResort)
    return app


def owner_routes(owner: ServesOwner) -> APIRouter:
    """What no caller but the owner is offered."""
    router = APIRouter()

    async def examine() -> Response:
        return JSONResponse({"findings": [asdict(found) for found in await owner.examine()]})

    async def page() -> Response:
        return JSONResponse(dict(await owner.page()))

    async def backup(wanted: BackupRequest) -> Response:
        return JSONResponse(dict(await owner.backup(wanted.file)), status_code=201)

    async def forget(wanted: ForgetRequest) -> Response:
        forgotten = await owner.forget(wanted.platform, user=wanted.user, tenant=wanted.tenant)
        return JSONResponse(dict(forgotten))

    async def decide(wanted: Decision) -> Response:
        decided = await owner.decide(TenantId(wanted.id), wanted.trust)
        return JSONResponse(tenant_document(decided))

    router.add_api_route("/servers", decide, methods=["POST"])
    router.add_api_route("/forget", forget, methods=["POST"])
    router.add_api_route("/page", page, methods=["GET"])
    router.add_api_route("/doctor", examine, methods=["GET"])
    router.add_api_route("/backup", backup, methods=["POST"])
    return router


class Trusted:
    """Lets everybody in as the private caller: the socket's file rights have chosen them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["caller"] = PRIVATE
        await self._app(scope, receive, send)
