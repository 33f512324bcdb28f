"""`/policies`: which channel reads which books, and how it is answered there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from adapters.web.documents.bodies import PolicyBody
from adapters.web.documents.insight_schemas import PoliciesModel
from adapters.web.documents.schemas import problems
from adapters.web.documents.values import policy_document
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import Problem, invalid, not_found
from adapters.web.parts import WebParts
from adapters.web.routes.reading import Reading, no_such_book
from rag_core.books.book import BookIds
from rag_core.books.policy import EVERYWHERE, ChannelPolicy, Place


class PolicyRoutes:
    """Lists what places say for themselves, and replaces it."""

    def __init__(self, parts: WebParts, reading: Reading) -> None:
        self._parts = parts
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

    async def listed(self, caller: CallerOf) -> Response:
        said = await policies_of(caller, self._parts)
        return JSONResponse(
            {"policies": [policy_document(place, policy) for place, policy in said.items()]}
        )

    async def replace(self, body: PolicyBody, caller: CallerOf) -> Response:
        for book_id in body.book_ids:
            if not await self._reading.may_read(caller, book_id):
                raise no_such_book("book_ids")
        if caller.own_books is not None:
            await self._check_own(body.place(), body.policy(), caller.own_books)
        await self._parts.policies.set(body.place(), await self._as_operator(body))
        return Response(status_code=204)

    async def _check_own(self, place: Place, policy: ChannelPolicy, books: BookIds) -> None:
        """A channel that reads nothing but these books, before and after the change."""
        if place.channel_id == EVERYWHERE:
            raise Problem(403, "A whole server takes an admin key without books.")
        rules = await self._parts.library.rules_for(
            platform=place.platform, tenant=place.tenant, channel_id=place.channel_id
        )
        own = await self._parts.policies.get(place) or ChannelPolicy()
        reads = {*own.books, *rules.policy.books, *(rules.books or ())}
        if not reads <= set(books):
            raise not_found("channel")
        if policy != ChannelPolicy() and not policy.books:
            raise invalid("book_ids", "book_ids must name your books.", ", ".join(books))

    async def _as_operator(self, body: PolicyBody) -> ChannelPolicy:
        """Other books are bound by whoever changes them here. Those that stay keep their maker: an
        admin's choice is not confirmed by setting a tone."""
        policy, place = body.policy(), body.place()
        own = await self._parts.policies.get(place) or ChannelPolicy()
        if policy.books == own.books:
            return replace(policy, operator_books=own.operator_books)
        return policy.bound_to(*policy.books)


async def policies_of(caller: Caller, parts: WebParts) -> Mapping[Place, ChannelPolicy]:
    """What places say for themselves; for an admin of some books, those that read these alone."""
    said, own = await parts.policies.all(), caller.own_books
    if own is None:
        return said
    return {
        place: policy
        for place, policy in said.items()
        if policy.books and set(policy.books) <= set(own)
    }
