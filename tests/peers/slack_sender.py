"""Slack's side of events over HTTP: signed requests, sent again until they are answered 200."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from time import monotonic, time
from typing import Any
from urllib.parse import urlencode

import aiohttp

from tests.peers.slack_socket import Envelope, SlackDeliveries

SIGNING_SECRET = "loopback-signing-secret"


class SlackHttpSender(SlackDeliveries):
    """Posts events to the app's address as Slack does."""

    def __init__(self, address: str, *, ack_seconds: float, pauses: Sequence[float]) -> None:
        super().__init__(ack_seconds=ack_seconds, pauses=pauses)
        self.address = address
        self.statuses: list[int] = []

    async def send(self, envelope: Envelope) -> None:
        body, kind = as_sent(envelope)
        headers = signed(body, kind=kind)
        if envelope.attempts:
            headers |= {
                "X-Slack-Retry-Num": str(envelope.attempts),
                "X-Slack-Retry-Reason": "http_error",
            }
        envelope.sent_at.append(monotonic())
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.address, data=body, headers=headers) as response,
        ):
            self.statuses.append(response.status)
            if response.status == 200:
                envelope.response = said_in(await response.text())
                envelope.acked_at = monotonic()
                envelope.acked.set()


def as_sent(envelope: Envelope) -> tuple[bytes, str]:
    """Events are JSON, commands a form, buttons and forms JSON in a form."""
    form = "application/x-www-form-urlencoded"
    match envelope.kind:
        case "slash_commands":
            return urlencode(envelope.payload).encode(), form
        case "interactive":
            return urlencode({"payload": json.dumps(envelope.payload)}).encode(), form
        case _:
            return json.dumps(envelope.payload).encode(), "application/json"


def said_in(text: str) -> Any:
    """What the app answered at once, if anything."""
    if not text.strip():
        return None
    return json.loads(text) if text.lstrip().startswith("{") else {"text": text}


def signed(
    body: bytes,
    *,
    secret: str = SIGNING_SECRET,
    at: float | None = None,
    kind: str = "application/json",
) -> dict[str, str]:
    """The headers of a request that Slack has signed."""
    stamp = str(int(time() if at is None else at))
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256)
    return {
        "Content-Type": kind,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={digest.hexdigest()}",
    }
