"""The events of an answer that is heard while it is written, as the description shows them."""

from __future__ import annotations

from typing import Any

EVENT = {
    "type": "object",
    "description": "One event; its data is JSON.",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["stage", "text", "final", "error"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
        "id": {"type": "string"},
    },
}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: `stage` {state, detail}, `text` {delta, restart}, then"
        " one `final` (an AgentResponse) or `error` (a problem). A lost stream goes on with the"
        " same body and `Last-Event-ID`.",
        "content": {
            "text/event-stream": {
                "schema": EVENT,
                "example": 'event: stage\ndata: {"state": "RETRIEVING", "detail": ""}\n\n',
            }
        },
    }
}

STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with `stream: true` the events of `/chat/stream`.",
        "content": STREAM[200]["content"],
    }
}
