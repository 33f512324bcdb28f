"""`/staff-answers`: what the staff's kept answers are, and how one is withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, JSONResponse, Response

from adapters.staff_answers import KeepsAnswers
from adapters.web.admin_frame import admin_page, none
from adapters.web.bodies import uuid_of
from adapters.web.caller import Caller
from adapters.web.entrance import CallerOf
from adapters.web.markdown import leads_out
from adapters.web.problems import not_found
from adapters.web.reading import Reading
from adapters.web.templates import Html, fill, joined
from rag_core.staff.answer import StaffAnswer

PAGE = "/admin/staff"


class StaffAnswerRoutes:
    """For admins, of the books that they may read; others are like none."""

    def __init__(self, staffing: KeepsAnswers, reading: Reading) -> None:
        self._staffing = staffing
        self._reading = reading

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/staff-answers", self.listed, methods=["GET"])
        router.add_api_route("/staff-answers/{answer_id}", self.withdraw, methods=["DELETE"])
        router.add_api_route(PAGE, self.page, methods=["GET"], response_class=HTMLResponse)
        return router

    async def listed(self, caller: CallerOf) -> Response:
        kept = await self._readable(caller)
        return JSONResponse({"staff_answers": [staff_document(each) for each in kept]})

    async def page(self, caller: CallerOf) -> Response:
        return HTMLResponse(admin_page(PAGE, staff_html(await self._readable(caller)), caller))

    async def withdraw(self, answer_id: str, caller: CallerOf) -> Response:
        """One that is withdrawn already stays so."""
        named = uuid_of(answer_id)
        answer = await self._staffing.get(named) if named else None
        if answer is None or not await self._reading.may_write(caller, answer.book_id):
            raise not_found("staff answer")
        done = await self._staffing.withdraw(answer.id)
        return JSONResponse(staff_document(done.answer))

    async def _readable(self, caller: Caller) -> Sequence[StaffAnswer]:
        kept = await self._staffing.listed()
        return [each for each in kept if await self._reading.may_write(caller, each.book_id)]


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


def staff_html(kept: Sequence[StaffAnswer]) -> Html:
    shown = joined([answer_html(each) for each in kept])
    return fill("admin-staff", answers=shown or none("No answer of the staff is kept yet."))


def answer_html(answer: StaffAnswer) -> Html:
    title: Html | str = answer.title
    if answer.link and leads_out(answer.link):
        title = fill("admin-staff-link", address=answer.link, words=answer.title)
    return fill(
        "admin-staff-answer",
        answer_id=str(answer.id),
        question=answer.question or "Kept without a question",
        text=answer.text,
        title=title,
        book=answer.book_id,
        until=f"{answer.expires_at:%d %b %Y}",
    )
