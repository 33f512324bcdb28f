"""Every error of the web door as an RFC 9457 problem; nothing of how we are built shows."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.guarding.faults import field_errors
from adapters.web.pages.templates import page
from rag_core.errors import (
    FootnoteError,
    InvalidQuestion,
    LedgerConflict,
    NoBookChosen,
    StorageError,
)

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
JSON = "application/json"
RETRY_SECONDS = 5
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Problem(Exception):
    """A request that gets no answer, and the sentence that says why."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = more

    @property
    def title(self) -> str:
        return HTTPStatus(self.status).phrase

    def document(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **self.more,
        }

    def response(self, accepted: str = "") -> Response:
        """The problem as a document, or as a page for a browser that asked for one."""
        if "text/html" in accepted:
            shown = page("lost", title=self.title, heading=self.title, detail=self.detail)
            return HTMLResponse(shown, self.status, headers=self.headers)
        # Written in ASCII: a name quoted from the request may hold what UTF-8 cannot.
        body = json.dumps(self.document())
        return Response(body, self.status, headers=self.headers, media_type=MEDIA_TYPE)


def not_found(what: str) -> Problem:
    return Problem(404, f"There is no such {what}, or it is not yours.")


def invalid(field: str, message: str, allowed: str = "") -> Problem:
    return invalid_fields([{"field": field, "message": message, "allowed": allowed}])


def invalid_fields(errors: Sequence[Mapping[str, str]]) -> Problem:
    sentence = " ".join(error["message"] for error in errors)
    return Problem(422, sentence, errors=[dict(error) for error in errors])


def too_many(seconds: int) -> Problem:
    return Problem(
        429,
        f"Too many requests with this key. Try again in {seconds} s.",
        headers={"Retry-After": str(seconds)},
    )


def unavailable(detail: str) -> Problem:
    return Problem(503, detail, headers={"Retry-After": str(RETRY_SECONDS)})


NO_BOOK_CHOSEN = (
    "No book is chosen and none is the default: name one in book_ids,"
    " or with --book at the command line."
)


def problem_of(error: Exception) -> Problem:
    """What a stranger is told of an error."""
    match error:
        case Problem():
            return error
        case InvalidQuestion():
            return invalid(error.field, error.message, error.allowed)
        case NoBookChosen():
            return invalid("book_ids", NO_BOOK_CHOSEN, "the book_ids of /books")
        case HTTPException():
            return http_problem(error)
        case StorageError():
            return unavailable("The database cannot be used right now. Nothing was written.")
        case LedgerConflict():
            return unavailable(str(error))
        case FootnoteError():
            return unavailable("A service that this needs is not available right now.")
        case _:
            return Problem(500, "Something went wrong here. The operator finds it in the log.")


def http_problem(error: HTTPException) -> Problem:
    """The framework's own refusals, in our words."""
    if error.status_code == 400:  # bytes that are no text, and so no JSON
        return invalid("body", "The body is not valid JSON.", "valid JSON")
    sentences = {
        404: "There is nothing at this address.",
        405: "This address does not take this method.",
    }
    detail = sentences.get(error.status_code, HTTPStatus(error.status_code).description)
    return Problem(error.status_code, detail, headers=error.headers)


async def answer_error(request: Request, error: Exception) -> Response:
    """The one handler for everything that was raised."""
    if isinstance(error, RequestValidationError):
        problem = invalid_body(error, request)
    else:
        problem = problem_of(error)
    if "Allow" in problem.headers:
        problem.headers["Allow"] = ", ".join(methods_at(request))
    if problem.status >= 500:
        # The error's own text may quote the question: only its kind and place are logged.
        log.error("request failed", extra={"cause": type(error).__name__, "at": place_of(error)})
    return problem.response(request.headers.get("accept", ""))


def invalid_body(error: RequestValidationError, request: Request) -> Problem:
    if is_unread(error, request):
        return invalid("body", f"The body is read as JSON only: send Content-Type {JSON}.", JSON)
    return invalid_fields(field_errors(error.errors(), fields=fields_of_body(request)))


def fields_of_body(request: Request) -> Sequence[str]:
    """What the body of this address may name."""
    body = getattr(request.scope.get("route"), "body_field", None)
    model = body.field_info.annotation if body else None
    return list(getattr(model, "model_fields", ()))


def is_unread(error: RequestValidationError, request: Request) -> bool:
    """Whether nothing of a body was read, because it is not said to be JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = kind == JSON or (kind.startswith("application/") and kind.endswith("+json"))
    return not is_json and all(tuple(fault["loc"]) == ("body",) for fault in error.errors())


def methods_at(request: Request) -> list[str]:
    """All methods of an address; the framework names those of one of its routes only."""
    taken = [method for method in METHODS if is_taken(request, method)]
    # What answers GET answers HEAD, see guarding.heads.
    return [*taken[:1], "HEAD", *taken[1:]] if "GET" in taken else taken


def is_taken(request: Request, method: str) -> bool:
    scope = {**request.scope, "method": method}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)


def place_of(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""


def add_problems(app: FastAPI) -> None:
    for kind in (Problem, RequestValidationError, HTTPException, FootnoteError):
        app.add_exception_handler(kind, answer_error)


class LastResort:
    """Answers what no handler took; a defect is told to the log, not to the stranger."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            if scope["type"] != "http" or begun:
                raise
            response = await answer_error(Request(scope, receive), error)
            await response(scope, receive, send)
