"""`/feedback`: what askers thought of their answers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from adapters.web.documents.bodies import FeedbackBody, uuid_of
from adapters.web.documents.schemas import problems
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import not_found
from adapters.web.parts import WebParts


class FeedbackRoutes:
    """Takes ratings; only the one who asked may rate."""

    def __init__(self, parts: WebParts) -> None:
        self._answers = parts.answers
        self._feedback = parts.feedback

    def router(self) -> APIRouter:
        router = APIRouter(tags=["feedback"])
        router.add_api_route(
            "/feedback",
            self.rate,
            methods=["POST"],
            status_code=204,
            response_class=Response,
            responses=problems(401, 403, 404, 413, 422, 429, 503),
        )
        return router

    async def rate(self, body: FeedbackBody, caller: CallerOf) -> Response:
        answer_id = uuid_of(body.answer_id)
        found = await self._answers.answer(answer_id) if answer_id else None
        if answer_id is None or found is None or not caller.owns(found[1]):
            raise not_found("answer")
        await self._feedback.rate(
            answer_id=answer_id,
            asker_id=caller.owner,
            helpful=body.rating == "helpful",
            reason=body.reason or "",
        )
        return Response(status_code=204)
