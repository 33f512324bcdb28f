"""`/staff-answers`: what the staff's kept answers are, and how one is withdrawn."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from adapters.staff_answers import KeepsAnswers
from adapters.web.bodies import uuid_of
from adapters.web.problems import not_found
from rag_core.errors import InvalidQuestion
from rag_core.staff.answer import StaffAnswer


def staff_routes(staffing: KeepsAnswers) -> APIRouter:
    """For admins; withdrawing one that is withdrawn already changes nothing."""
    router = APIRouter()

    async def listed() -> Response:
        kept = await staffing.listed()
        return JSONResponse({"staff_answers": [staff_document(each) for each in kept]})

    async def withdraw(answer_id: str) -> Response:
        named = uuid_of(answer_id)
        try:
            if named is None:
                raise not_found("staff answer")
            done = await staffing.withdraw(named)
        except InvalidQuestion as error:
            raise not_found("staff answer") from error
        return JSONResponse(staff_document(done.answer))

    router.add_api_route("/staff-answers", listed, methods=["GET"])
    router.add_api_route("/staff-answers/{answer_id}", withdraw, methods=["DELETE"])
    return router


def staff_document(answer: StaffAnswer) -> dict[str, Any]:
    """The ids of its author and of who kept it are nobody's business here."""
    return {
        "id": str(answer.id),
        "book_id": answer.book_id,
        "platform": answer.identity.platform,
        "author": answer.author,
        "question": answer.question,
        "text": answer.text,
        "link": answer.link or None,
        "keeping": answer.keeping.value,
        "said_at": answer.said_at.isoformat(),
        "expires_at": answer.expires_at.isoformat(),
    }
