"""`/staff-answers`: the staff's kept answers; an admin writes, changes and withdraws them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fastapi import APIRouter
from starlette.responses import HTMLResponse, JSONResponse, Response

from adapters.staff_answers import KeepsAnswers
from adapters.web.documents.bodies import (
    SharingBody,
    StaffAnswerBody,
    StaffChangeBody,
    uuid_of,
)
from adapters.web.documents.values import Document, told
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import not_found
from adapters.web.pages.admin_frame import admin_page, no_items, options
from adapters.web.pages.markdown import leads_out
from adapters.web.pages.templates import NOTHING, Html, fill, joined
from adapters.web.parts import WebParts, WritesAnswers
from adapters.web.routes.reading import Reading, no_such_book
from rag_core.books.book import Book
from rag_core.staff.answer import StaffAnswer

PAGE = "/admin/staff"


class StaffAnswerRoutes:
    """For admins, of the books that they may read; others are like none."""

    def __init__(
        self, parts: WebParts, staffing: KeepsAnswers, writing: WritesAnswers, reading: Reading
    ) -> None:
        self._books = parts.books
        self._clock = parts.clock
        self._staffing = staffing
        self._writing = writing
        self._reading = reading

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/staff-answers", self.listed, methods=["GET"])
        router.add_api_route("/staff-answers", self.write, methods=["POST"])
        router.add_api_route("/staff-answers/{answer_id}", self.change, methods=["PATCH"])
        router.add_api_route("/staff-answers/{answer_id}", self.withdraw, methods=["DELETE"])
        router.add_api_route("/staff-answers/{answer_id}/sharing", self.share, methods=["PUT"])
        router.add_api_route(PAGE, self.page, methods=["GET"], response_class=HTMLResponse)
        return router

    async def listed(self, caller: CallerOf) -> Response:
        kept = await self._readable(caller)
        return JSONResponse({"staff_answers": [staff_document(each) for each in kept]})

    async def page(self, caller: CallerOf) -> Response:
        books = [
            book
            for book in await self._books.all()
            if await self._reading.may_write(caller, book.book_id)
        ]
        shown = staff_html(await self._readable(caller), books, now=self._clock())
        return HTMLResponse(admin_page(PAGE, shown, caller))

    async def write(self, body: StaffAnswerBody, caller: CallerOf) -> Response:
        if not await self._reading.may_read(caller, body.book_id):
            raise no_such_book("book_id")
        written = await self._writing.write(body.draft(), by=caller.owner)
        return JSONResponse(staff_document(written), status_code=201)

    async def change(self, answer_id: str, body: StaffChangeBody, caller: CallerOf) -> Response:
        answer = await self._own(answer_id, caller)
        changed = await self._writing.change(answer.id, text=body.text, expires_at=body.expires_at)
        return JSONResponse(staff_document(changed))

    async def share(self, answer_id: str, body: SharingBody, caller: CallerOf) -> Response:
        answer = await self._own(answer_id, caller)
        return JSONResponse(staff_document(await self._writing.share(answer.id, body.places)))

    async def withdraw(self, answer_id: str, caller: CallerOf) -> Response:
        """One that is withdrawn already stays so."""
        answer = await self._own(answer_id, caller)
        done = await self._staffing.withdraw(answer.id)
        return JSONResponse(staff_document(done.answer))

    async def _own(self, answer_id: str, caller: Caller) -> StaffAnswer:
        named = uuid_of(answer_id)
        answer = await self._staffing.get(named) if named else None
        if answer is None or not await self._reading.may_write(caller, answer.book_id):
            raise not_found("staff answer")
        return answer

    async def _readable(self, caller: Caller) -> Sequence[StaffAnswer]:
        kept = await self._staffing.listed()
        return [each for each in kept if await self._reading.may_write(caller, each.book_id)]


def staff_document(answer: StaffAnswer) -> Document:
    """The ids of its author and of who kept it are nobody's business here."""
    return {
        **told(answer, ("id", "book_id")),
        "platform": answer.identity.platform,
        "tenant": answer.identity.tenant,
        "shared_with": list(answer.shared_with),
        **told(answer, ("author", "question", "text")),
        "link": answer.link or None,
        **told(answer, ("keeping", "said_at", "expires_at")),
    }


def staff_html(kept: Sequence[StaffAnswer], books: Sequence[Book], *, now: datetime) -> Html:
    shown = joined([answer_html(each, now=now) for each in kept])
    named = options([(book.book_id, book.title) for book in books], "")
    return fill(
        "admin-staff",
        form=fill("admin-staff-form", books=named) if books else NOTHING,
        answers=shown or no_items("No answer of the staff is kept yet."),
    )


def answer_html(answer: StaffAnswer, *, now: datetime) -> Html:
    title: Html | str = answer.title
    if answer.link and leads_out(answer.link):
        title = fill("admin-staff-link", address=answer.link, words=answer.title)
    question = answer.question or "Kept without a question"
    return fill(
        "admin-staff-answer",
        answer_id=str(answer.id),
        question=question,
        text=answer.text,
        title=title,
        book=answer.book_id,
        until=until_words(answer, now=now),
        day=f"{answer.expires_at:%Y-%m-%d}",
        place=place_words(answer),
        words=fill("admin-staff-words", text=answer.text) if answer.is_written_down else NOTHING,
        share=NOTHING if answer.is_written_down else share_html(answer),
    )


def share_html(answer: StaffAnswer) -> Html:
    return fill("admin-staff-share", places=" ".join(answer.shared_with))


def place_words(answer: StaffAnswer) -> str:
    """Where it is found, in words."""
    if answer.is_written_down:
        return "found wherever the book is read"
    platform, tenant = answer.place
    also = f", shared with {', '.join(answer.shared_with)}" if answer.shared_with else ""
    return f"kept in {platform}:{tenant}{also}"


def until_words(answer: StaffAnswer, *, now: datetime) -> str:
    day = f"{answer.expires_at:%d %b %Y}"
    return f"found until {day}" if answer.is_found_at(now) else f"not found any more since {day}"
