"""Whether what Slack sent has the parts that are used: a signature says who sent it, not what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MAX_DEPTH = 100
"""Slack's blocks within views within payloads stay far below."""
OBJECTS = ("channel", "container", "message", "team", "user", "view")
NAMES = ("action_id", "block_id", "callback_id", "command", "type")
"""What the library compares with what its listeners wait for."""
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


def id_in(body: Mapping[str, Any], name: str) -> str:
    """The id of the person, team or channel that a press or a form came from."""
    return str(part(body, name).get("id") or "")


def parts(body: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The objects of a list; none where there is no list."""
    value = body.get(name)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def check_object(value: Any) -> None:
    """An object whose parts are what Slack's are, and not deeper than anybody needs."""
    if not (isinstance(value, dict) and value and is_shaped(value)):
        raise ValueError("not one of Slack's objects")
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in insides(outer)]
        if not level:
            return
    raise ValueError("too deep")


def is_shaped(value: Mapping[str, Any]) -> bool:
    """Whether the parts that the library looks into without asking are what it expects."""
    event, actions = value.get("event", {"type": ""}), value.get("actions", [{}])
    if not (isinstance(event, dict) and type(event.get("type")) is str):
        return False
    if not (isinstance(actions, list) and actions):
        return False
    parts = [value[name] for name in OBJECTS if value.get(name) is not None] + actions
    return (
        all(isinstance(part, dict) for part in parts)
        and all(isinstance(part.get(n, ""), str) for part in [value, *parts] for n in NAMES)
        and (value.get("type") != "block_actions" or all(act.get("action_id") for act in actions))
    )


def insides(value: Any) -> Iterator[Any]:
    inside = value.values() if isinstance(value, dict) else value
    return (item for item in inside if isinstance(item, dict | list))
