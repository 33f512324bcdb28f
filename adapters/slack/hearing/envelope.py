"""What comes in by the socket, handed to the library, and the ack for it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One delivery over Socket Mode; Slack sends it again until it is acknowledged."""

    envelope_id: str
    payload: dict[str, Any]
    retry_attempt: int
    retry_reason: str


def envelope_in(frame: Mapping[str, Any]) -> Envelope:
    return Envelope(
        envelope_id=frame["envelope_id"],
        payload=frame["payload"],
        retry_attempt=frame.get("retry_attempt") or 0,
        retry_reason=str(frame.get("retry_reason") or ""),
    )


async def dispatch(app: AsyncApp, envelope: Envelope) -> dict[str, Any] | None:
    """The ack, once the listener is done; nothing when it failed."""
    try:
        request = AsyncBoltRequest(
            mode="socket_mode", body=envelope.payload, headers=retry_headers(envelope)
        )
        response = await app.async_dispatch(request)
    except Exception:  # a door: the envelope stays unacknowledged, and Slack sends it again
        # The library raises on some shapes before anything of ours has seen the event.
        log.exception("an envelope met a defect", extra={"envelope_id": envelope.envelope_id})
        return None
    return ack_of(envelope, response) if response.status == 200 else None


def retry_headers(envelope: Envelope) -> dict[str, str | Any]:
    """As they come over HTTP, so that listeners need not know the transport."""
    if not envelope.retry_attempt:
        return {}
    return {
        "x-slack-retry-num": str(envelope.retry_attempt),
        "x-slack-retry-reason": envelope.retry_reason,
    }


def ack_of(envelope: Envelope, response: BoltResponse) -> dict[str, Any]:
    ack: dict[str, Any] = {"envelope_id": envelope.envelope_id}
    if response.body:
        kind = response.headers.get("content-type", [""])[0]
        is_json = kind.startswith("application/json")
        ack["payload"] = json.loads(response.body) if is_json else {"text": response.body}
    return ack
