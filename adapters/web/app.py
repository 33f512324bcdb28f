"""The web door put together: pages and HTTP behind one guard."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.staticfiles import StaticFiles

from adapters.web.config import WebConfig
from adapters.web.connections import most_connections
from adapters.web.guarding.body import BodyLimit
from adapters.web.guarding.guard import Guard
from adapters.web.guarding.guesses import WrongKeys
from adapters.web.guarding.headers import SafeHeaders
from adapters.web.guarding.heads import Heads
from adapters.web.guarding.problems import LastResort, add_problems
from adapters.web.guarding.rate import SlidingLimit
from adapters.web.guarding.session import BrowserSessions
from adapters.web.guarding.work import RequestLimit
from adapters.web.mounted import mounted
from adapters.web.pages.admin import AdminRoutes
from adapters.web.pages.chat_page import PageRoutes
from adapters.web.pages.page_chat import PageChatRoutes
from adapters.web.parts import WebParts
from adapters.web.routes.asking import Asking
from adapters.web.routes.books import BookRoutes
from adapters.web.routes.chat import ChatRoutes
from adapters.web.routes.description import Description
from adapters.web.routes.feedback import FeedbackRoutes
from adapters.web.routes.gaps import InsightRoutes
from adapters.web.routes.health import HealthRoutes
from adapters.web.routes.hooks import Hooks
from adapters.web.routes.jobs import JobRoutes
from adapters.web.routes.policies import PolicyRoutes
from adapters.web.routes.reading import Reading
from adapters.web.routes.search import SearchRoutes
from adapters.web.routes.signing import SignInRoutes
from adapters.web.routes.staff_answers import StaffAnswerRoutes
from adapters.web.routes.threads import ThreadRoutes
from adapters.web.routes.uploads import UploadRoutes

STATIC = Path(__file__).parent / "static"


def create_app(parts: WebParts, config: WebConfig) -> FastAPI:
    """The whole web door: the chat page, HTTP, and what other platforms mounted on its port."""
    app = create_api(parts, config, asks_for_key=not config.open_loopback)
    sessions = BrowserSessions(parts.sign_ins, config, clock=parts.clock)
    wrong_keys = WrongKeys(seconds=config.wrong_key_seconds)
    for routes in (
        PageRoutes(parts, config),
        PageChatRoutes(parts, config),
        AdminRoutes(parts, config),
        SignInRoutes(config, sessions, wrong_keys),
    ):
        app.include_router(routes.router(), include_in_schema=False)
    app.include_router(UploadRoutes(parts, config).router())
    if parts.sources is not None and config.hook_secret is not None:
        hooks = Hooks(parts.sources, parts.tickets, secret=config.hook_secret, clock=parts.clock)
        app.include_router(hooks.router())
    app.mount("/static", StaticFiles(directory=STATIC))
    app.router.routes[:0] = [mounted(path, other) for path, other in parts.mounts.items()]
    mounts = frozenset(parts.mounts)
    limit = SlidingLimit(requests=config.requests_per_minute)
    # The last one added is the first one asked.
    # All shares together leave a quarter of the connections to those who come.
    connections = most_connections()
    app.add_middleware(RequestLimit, most=min(config.max_requests, connections // 4))
    app.add_middleware(
        BodyLimit,
        max_body=config.max_body,
        seconds=config.body_seconds,
        mounts=mounts,
        most=connections // 8,
    )
    app.add_middleware(
        Guard, config=config, limit=limit, sessions=sessions, wrong_keys=wrong_keys, mounts=mounts
    )
    app.add_middleware(SafeHeaders)
    app.add_middleware(LastResort)
    app.add_middleware(Heads)
    return app


def create_api(parts: WebParts, config: WebConfig, *, asks_for_key: bool = False) -> FastAPI:
    """The addresses of HTTP, with nobody at the door yet."""
    app = FastAPI(
        title="Footnote",
        version=parts.version,
        description="Answers from your own documents, with a footnote for every sentence.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for router in api_routers(parts, config):
        app.include_router(router)
    described = Description(app, keyed=asks_for_key)
    app.add_api_route("/openapi.json", described, methods=["GET"], include_in_schema=False)
    add_problems(app)
    return app


def api_routers(parts: WebParts, config: WebConfig) -> Iterable[APIRouter]:
    reading = Reading(books=parts.books, library=parts.library)
    asking = Asking(
        parts,
        reading,
        wait_seconds=config.wait_seconds,
        poll_seconds=config.poll_seconds,
        splits=False,
    )
    yield ChatRoutes(asking).router()
    yield ThreadRoutes(parts).router()
    yield SearchRoutes(parts, reading).router()
    yield BookRoutes(parts, reading).router()
    yield JobRoutes(parts, reading, folders=config.job_folders).router()
    yield FeedbackRoutes(parts).router()
    yield InsightRoutes(parts).router()
    yield PolicyRoutes(parts, reading).router()
    if parts.staffing is not None and parts.writing is not None:
        yield StaffAnswerRoutes(parts, parts.staffing, parts.writing, reading).router()
    yield HealthRoutes(parts).router()
