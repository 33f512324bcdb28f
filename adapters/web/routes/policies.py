"""`/policies`: which channel reads which books, and how it is answered there."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from adapters.web.documents.bodies import PolicyBody
from adapters.web.documents.insight_schemas import PoliciesModel
from adapters.web.documents.schemas import problems
from adapters.web.documents.values import policy_document
from adapters.web.guarding.entrance import CallerOf
from adapters.web.parts import WebParts
from adapters.web.routes.reading import Reading, no_such_book


class PolicyRoutes:
    """Lists what places say for themselves, and replaces it."""

    def __init__(self, parts: WebParts, reading: Reading) -> None:
        self._policies = parts.policies
        self._reading = reading

    def router(self) -> APIRouter:
        router = APIRouter(tags=["policies"])
        router.add_api_route(
            "/policies",
            self.listed,
            methods=["GET"],
            response_model=PoliciesModel,
            responses=problems(401, 403, 429, 503),
        )
        router.add_api_route(
            "/policies",
            self.replace,
            methods=["PUT"],
            status_code=204,
            response_class=Response,
            responses=problems(401, 403, 404, 413, 422, 429, 503),
        )
        return router

    async def listed(self) -> Response:
        said = await self._policies.all()
        return JSONResponse(
            {"policies": [policy_document(place, policy) for place, policy in said.items()]}
        )

    async def replace(self, body: PolicyBody, caller: CallerOf) -> Response:
        for book_id in body.book_ids:
            if not await self._reading.may_read(caller, book_id):
                raise no_such_book("book_ids")
        await self._policies.set(body.place(), body.policy().bound_to(*body.book_ids))
        return Response(status_code=204)
