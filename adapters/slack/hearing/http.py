"""Slack's events over HTTP: a plain ASGI app with a guard in front of the library.

Nothing is parsed, and nothing is logged, before the signature over the raw bytes was checked."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from time import time
from typing import Any
from urllib.parse import parse_qsl

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.hearing.bolt import not_accepted
from adapters.slack.hearing.shapes import check_object

log = logging.getLogger(__name__)

MAX_BODY = 1_000_000
MAX_FIELDS = 100
REPLAY_SECONDS = 300
TRUSTED_HEADERS = ("content-type", "x-slack-retry-num", "x-slack-retry-reason")
"""Headers are not signed, and some of them steer the library."""
TRIPS = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the library raises over a shape that it did not foresee; ours has passed our own doors."""
JSON, FORM = "application/json", "application/x-www-form-urlencoded"

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class RequestRefused(Exception):
    """A request that is not Slack's, or not one that we can read."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


class SignedEvents:
    """Lets in what Slack has signed a moment ago; answers once the desk has it.

    While a secret is exchanged the new and the old one hold, separated by a comma."""

    def __init__(
        self,
        app: AsyncApp,
        *,
        signing_secret: str,
        is_open: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = time,
    ) -> None:
        self._app = app
        self._secrets = secrets_in(signing_secret)
        self._is_open = is_open
        self._clock = clock

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
            return
        try:
            response = await self._answer(scope, receive)
        except RequestRefused as refused:
            log.warning("a request to slack's door was refused", extra={"status": refused.status})
            response = problem(refused)
        await respond(send, response)

    async def _answer(self, scope: Message, receive: Receive) -> BoltResponse:
        headers = headers_of(scope)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] != "POST":
            raise RequestRefused(405, "Slack's events come by POST.")
        if kind not in {JSON, FORM}:
            raise RequestRefused(415, "Slack's events are JSON or a form.")
        body = await body_of(headers, receive)
        self._check_signature(headers, body)
        request = readable(body, kind, headers)
        if not self._is_open() and request.body.get("type") != "url_verification":
            raise RequestRefused(503, "Slack has not told us yet who we are.")
        try:
            return await self._app.async_dispatch(request)
        except TRIPS as error:
            # The library trips over some shapes before anything of ours has seen them.
            log.warning("slack's library cannot read it", extra={"cause": type(error).__name__})
            raise RequestRefused(400, "The body is not one of Slack's.") from None
        except Exception as error:  # noqa: BLE001 - logged there, and Slack sends it again
            return not_accepted(error, request.body)

    def _check_signature(self, headers: Mapping[str, str], body: bytes) -> None:
        stamp = headers.get("x-slack-request-timestamp", "")
        if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
            raise RequestRefused(401, "The signature is missing.")
        if abs(self._clock() - int(stamp)) > REPLAY_SECONDS:
            raise RequestRefused(401, "The signature is too old.")
        given = headers.get("x-slack-signature", "").encode()
        expected = [signature(secret, stamp, body).encode() for secret in self._secrets]
        if not any(hmac.compare_digest(each, given) for each in expected):
            raise RequestRefused(401, "The signature is wrong.")


def secrets_in(listed: str) -> list[bytes]:
    return [each.strip().encode() for each in listed.split(",") if each.strip()]


def signature(secret: bytes, stamp: str, body: bytes) -> str:
    signed = b":".join([b"v0", stamp.encode(), body])
    return "v0=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()


def headers_of(scope: Message) -> dict[str, str]:
    pairs: list[tuple[bytes, bytes]] = list(scope["headers"])
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}


async def body_of(headers: Mapping[str, str], receive: Receive) -> bytes:
    """The whole body, never more of it than the bound."""
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length[:12]) > MAX_BODY:
        raise RequestRefused(413, "The body is too large.")
    pieces, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestRefused(400, "The body is not complete.")
        pieces.append(message.get("body", b""))
        size, more = size + len(pieces[-1]), message.get("more_body", False)
        if size > MAX_BODY:
            raise RequestRefused(413, "The body is too large.")
    return b"".join(pieces)


def readable(body: bytes, kind: str, headers: Mapping[str, str]) -> AsyncBoltRequest:
    """The library's request, if it is one that the library does not trip over.

    The body is parsed here and handed over as it comes over a socket: the library's own parser
    loses a command whose text has the word "payload" in it."""
    trusted: dict[str, Any] = {n: headers[n] for n in TRUSTED_HEADERS if n in headers}
    try:
        content = content_of(body.decode(), kind)
        check_object(content)
        return AsyncBoltRequest(body=content, headers=trusted, mode="socket_mode")
    except (ValueError, RecursionError, TypeError, AttributeError, LookupError) as error:
        raise RequestRefused(400, "The body is not one of Slack's.") from error


def content_of(text: str, kind: str) -> Any:
    """Events are JSON; commands are a form; buttons and dialogs are JSON in a form."""
    if kind == JSON:
        return json.loads(text)
    fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS))
    return json.loads(fields["payload"]) if "payload" in fields else fields


def problem(refused: RequestRefused) -> BoltResponse:
    titles = {400: "Bad request", 401: "Unauthorized", 405: "Method not allowed"}
    title = titles.get(refused.status, "Refused")
    body = {"title": title, "status": refused.status, "detail": refused.detail}
    headers: dict[str, str | Any] = {"content-type": "application/problem+json"}
    if refused.status == 405:
        headers["allow"] = "POST"
    return BoltResponse(status=refused.status, headers=headers, body=json.dumps(body))


async def respond(send: Send, response: BoltResponse) -> None:
    body = (response.body or "").encode()
    pairs = [(name, value) for name, values in response.headers.items() for value in values]
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs]
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
