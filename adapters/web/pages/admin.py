"""`/admin`: numbers, gaps, books, channels and the stories of answers, for whoever runs this."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from adapters.web.config import WebConfig
from adapters.web.documents.bodies import uuid_of
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.problems import not_found
from adapters.web.pages.admin_books import books_html, channels_html, jobs_html
from adapters.web.pages.admin_frame import admin_page
from adapters.web.pages.admin_numbers import gaps_html, numbers_html
from adapters.web.pages.admin_story import answers_html, story_html
from adapters.web.parts import WebParts
from adapters.web.routes.gaps import MAX_DAYS
from adapters.web.routes.policies import policies_of
from adapters.web.routes.reading import Reading
from rag_core.ingestion.job import IngestionJob
from rag_core.insight.gap import GapState

GAPS, RUNS, ANSWERS = 100, 20, 100
USUAL_DAYS = 30


class AdminRoutes:
    """Server-rendered pages; a little script draws charts, drops files and changes states."""

    def __init__(self, parts: WebParts, config: WebConfig) -> None:
        self._parts = parts
        self._reading = Reading(books=parts.books, library=parts.library)
        self._drops = config.uploads is not None

    def router(self) -> APIRouter:
        router = APIRouter(default_response_class=HTMLResponse)
        pages: dict[str, Callable[..., Awaitable[Response]]] = {
            "/admin": self.numbers,
            "/admin/gaps": self.gaps,
            "/admin/books": self.books,
            "/admin/books/jobs": self.jobs,
            "/admin/channels": self.channels,
            "/admin/answers": self.answers,
            "/admin/answers/{answer_id}": self.story,
        }
        for address, shown in pages.items():
            router.add_api_route(address, shown, methods=["GET"])
        return router

    async def numbers(self, caller: CallerOf, days: str = "") -> Response:
        wanted = int(days) if days.isascii() and days.isdecimal() and len(days) < 4 else USUAL_DAYS
        stats = await self._parts.stats.last_days(
            min(max(1, wanted), MAX_DAYS), books=caller.own_books
        )
        return HTMLResponse(admin_page("/admin", numbers_html(stats), caller, charts=True))

    async def gaps(self, caller: CallerOf, state: str = "") -> Response:
        chosen = GapState(state) if state in set(GapState) else None
        await self._parts.gaps.refresh()
        states = (chosen,) if chosen else ()
        gaps = await self._parts.gaps.listed(books=caller.own_books, states=states, limit=GAPS)
        return HTMLResponse(admin_page("/admin/gaps", gaps_html(gaps, chosen), caller))

    async def books(self, caller: CallerOf) -> Response:
        readable = await self._reading.readable(caller) or ()
        books = [book for book in await self._parts.books.all() if book.book_id in readable]
        shown = books_html(books, await self._runs(caller), drops=self._drops)
        return HTMLResponse(admin_page("/admin/books", shown, caller))

    async def jobs(self, caller: CallerOf) -> Response:
        """The runs alone, for a page that watches them."""
        return HTMLResponse(jobs_html(await self._runs(caller)))

    async def channels(self, caller: CallerOf) -> Response:
        shown = channels_html(await policies_of(caller, self._parts))
        return HTMLResponse(admin_page("/admin/channels", shown, caller))

    async def answers(self, caller: CallerOf) -> Response:
        shown = answers_html(
            await self._parts.stories.recent(limit=ANSWERS, books=caller.own_books)
        )
        return HTMLResponse(admin_page("/admin/answers", shown, caller))

    async def story(self, answer_id: str, caller: CallerOf) -> Response:
        known = uuid_of(answer_id)
        story = await self._parts.stories.of(known, books=caller.own_books) if known else None
        if story is None:
            raise not_found("answer")
        heading = story.response.query
        shown = admin_page("/admin/answers", story_html(story), caller, heading=heading)
        return HTMLResponse(shown)

    async def _runs(self, caller: Caller) -> Sequence[IngestionJob]:
        return await self._parts.jobs.recent(limit=RUNS, books=caller.own_books)
