"""Whether what Slack sent has the parts that are used: a signature says who sent it, not what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PERSON = ("team.id", "user.id")
PRESS = (*PERSON, "channel.id")
FORM = (*PERSON, "view.private_metadata")
POINTED = (*PERSON, "channel.id", "message.ts", "response_url")
COMMAND = ("team_id", "user_id", "channel_id", "trigger_id", "response_url")


def fits(body: Mapping[str, Any], paths: tuple[str, ...]) -> bool:
    """Whether there is a text at the end of every path."""
    return all(is_text_at(body, path) for path in paths)


def is_text_at(body: Any, path: str) -> bool:
    value = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return isinstance(value, str) and bool(value)


def part(body: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """An object within objects; an empty one where there is none."""
    value: Any = body
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}
