"""What Discord refuses in a message, a thread or a set of commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MAX_CONTENT = 2_000
MAX_NONCE = 25
MAX_EMBEDS = 10
MAX_EMBED_TEXT = 6_000
MAX_LABEL = 80
MAX_CUSTOM_ID = 100
V2_COMPONENTS = 40
V2_TEXT = 4_000
ARCHIVE_MINUTES = {60, 1440, 4320, 10080}
SUPPRESS_EMBEDS, SUPPRESS_NOTIFICATIONS, COMPONENTS_V2 = 1 << 2, 1 << 12, 1 << 15
SENDABLE_FLAGS = SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS | COMPONENTS_V2
ACTION_ROW, BUTTON, TEXT_DISPLAY = 1, 2, 10
SELECTS = {3, 5, 6, 7, 8}
LINK_STYLE = 5
COMMAND_NAME = re.compile(r"^[-_'\w]{1,32}$")
MENU_NAME = re.compile(r"^.{1,32}$")
COMMANDS_A_KIND = {1: 100, 2: 15, 3: 15}


class Refused(Exception):
    """What Discord answers to a request that it does not carry out."""

    def __init__(self, status: int, code: int, message: str, errors: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = tuple(errors)

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"message": self.message, "code": self.code}
        if self.errors:
            shown["errors"] = {"_errors": [{"code": "INVALID", "message": e} for e in self.errors]}
        return shown


def check(faults: Iterable[str]) -> None:
    """Refuse a body that has faults, naming them all."""
    found = tuple(faults)
    if found:
        raise Refused(400, 50035, "Invalid Form Body", found)


def check_message(body: Mapping[str, Any], *, edit: bool = False) -> None:
    check(message_faults(body))
    if not edit and not any(
        (str(body.get("content") or "").strip(), body.get("embeds"), body.get("components"))
    ):
        raise Refused(400, 50006, "Cannot send an empty message")


def message_faults(body: Mapping[str, Any]) -> Iterator[str]:
    content = body.get("content")
    if content is not None and not isinstance(content, str):
        yield "content: Could not interpret as string"
    elif content is not None and len(content) > MAX_CONTENT:
        yield f"content: Must be {MAX_CONTENT} or fewer in length; was {len(content)}"
    flags = body.get("flags", 0)
    if not isinstance(flags, int) or flags & ~SENDABLE_FLAGS:
        yield f"flags: {flags} cannot be set on a message"
    yield from nonce_faults(body)
    yield from mention_faults(body.get("allowed_mentions"))
    yield from embed_faults(body.get("embeds") or [])
    if isinstance(flags, int) and flags & COMPONENTS_V2:
        yield from layout_faults(body)
    else:
        yield from row_faults(body.get("components") or [])


def nonce_faults(body: Mapping[str, Any]) -> Iterator[str]:
    nonce = body.get("nonce")
    if nonce is not None and not isinstance(nonce, str | int):
        yield "nonce: Must be a string or an integer"
    elif nonce is not None and not 1 <= len(str(nonce)) <= MAX_NONCE:
        yield f"nonce: Must be between 1 and {MAX_NONCE} in length; was {len(str(nonce))}"
    if body.get("enforce_nonce") and nonce is None:
        yield "enforce_nonce: needs a nonce"


def mention_faults(allowed: Any) -> Iterator[str]:
    if allowed is None:
        return
    if not isinstance(allowed, dict):
        yield "allowed_mentions: Only dictionaries may be used"
        return
    parse = allowed.get("parse", [])
    if not set(parse) <= {"roles", "users", "everyone"}:
        yield f"allowed_mentions.parse: {parse}"
    for kind in ("users", "roles"):
        if kind in parse and allowed.get(kind):
            yield f"allowed_mentions: parse:{kind} and a list of {kind} exclude each other"
        if len(allowed.get(kind) or []) > 100:
            yield f"allowed_mentions.{kind}: Must be 100 or fewer"


def embed_faults(embeds: list[dict[str, Any]]) -> Iterator[str]:
    if len(embeds) > MAX_EMBEDS:
        yield f"embeds: Must be {MAX_EMBEDS} or fewer in length"
    total = 0
    for embed in embeds:
        for name, text, limit in embed_texts(embed):
            total += len(text)
            if len(text) > limit:
                yield f"embeds.{name}: Must be {limit} or fewer in length"
        if len(embed.get("fields") or []) > 25:
            yield "embeds.fields: Must be 25 or fewer"
    if total > MAX_EMBED_TEXT:
        yield f"embeds: Embed size exceeds maximum size of {MAX_EMBED_TEXT}"


def embed_texts(embed: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    yield "title", embed.get("title") or "", 256
    yield "description", embed.get("description") or "", 4_096
    yield "footer", (embed.get("footer") or {}).get("text") or "", 2_048
    yield "author", (embed.get("author") or {}).get("name") or "", 256
    for item in embed.get("fields") or []:
        yield "fields.name", item.get("name") or "", 256
        yield "fields.value", item.get("value") or "", 1_024


def row_faults(rows: list[dict[str, Any]]) -> Iterator[str]:
    if len(rows) > 5:
        yield "components: Must be 5 or fewer rows"
    custom_ids: list[str] = []
    for row in rows:
        if row.get("type") != ACTION_ROW:
            yield f"components: type {row.get('type')} needs the components flag"
            continue
        items = row.get("components") or []
        selects = [item for item in items if item.get("type") in SELECTS]
        if not 1 <= len(items) <= 5 or (selects and len(items) > 1):
            yield "components: a row holds one to five buttons or one select"
        for item in items:
            yield from item_faults(item)
            custom_ids += [item["custom_id"]] if item.get("custom_id") else []
    if len(custom_ids) != len(set(custom_ids)):
        yield "components: Component custom id cannot be duplicated"


def item_faults(item: Mapping[str, Any]) -> Iterator[str]:
    if len(item.get("label") or "") > MAX_LABEL:
        yield f"components.label: Must be {MAX_LABEL} or fewer in length"
    if item.get("type") == BUTTON and item.get("style") == LINK_STYLE:
        if item.get("custom_id") or not str(item.get("url", "")).startswith(
            ("http://", "https://")
        ):
            yield "components: a link button has an address and no custom_id"
        if len(item.get("url", "")) > 512:
            yield "components.url: Must be 512 or fewer in length"
    elif not 1 <= len(item.get("custom_id") or "") <= MAX_CUSTOM_ID:
        yield f"components.custom_id: Must be between 1 and {MAX_CUSTOM_ID} in length"
    options = item.get("options") or []
    if len(options) > 25 or any(len(option.get("label", "")) > 100 for option in options):
        yield "components.options: at most 25 options with labels of at most 100"


def layout_faults(body: Mapping[str, Any]) -> Iterator[str]:
    if body.get("content") or body.get("embeds"):
        yield "components: no content or embeds beside a layout"
    items = list(nested(body.get("components") or []))
    if len(items) > V2_COMPONENTS:
        yield f"components: Must be {V2_COMPONENTS} or fewer in all"
    shown = sum(len(i.get("content") or "") for i in items if i.get("type") == TEXT_DISPLAY)
    if shown > V2_TEXT:
        yield f"components: Must be {V2_TEXT} or fewer visible characters"
    for item in items:
        if item.get("type") == BUTTON or item.get("type") in SELECTS:
            yield from item_faults(item)


def nested(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for component in components:
        yield component
        yield from nested(component.get("components") or [])
        yield from nested([component["accessory"]] if component.get("accessory") else [])


def check_thread(body: Mapping[str, Any]) -> None:
    name = body.get("name")
    faults = []
    if not isinstance(name, str) or not 1 <= len(name.strip()) <= 100:
        faults.append("name: Must be between 1 and 100 in length")
    if body.get("auto_archive_duration", 1440) not in ARCHIVE_MINUTES | {None}:
        faults.append(f"auto_archive_duration: Value must be one of {sorted(ARCHIVE_MINUTES)}")
    if not 0 <= (body.get("rate_limit_per_user") or 0) <= 21_600:
        faults.append("rate_limit_per_user: Must be between 0 and 21600")
    check(faults)


def check_commands(commands: Any) -> None:
    if not isinstance(commands, list):
        raise Refused(400, 50035, "Invalid Form Body", ["Only lists may be used"])
    check(command_faults(commands))


def command_faults(commands: list[dict[str, Any]]) -> Iterator[str]:
    for kind, limit in COMMANDS_A_KIND.items():
        named = [c.get("name") for c in commands if c.get("type", 1) == kind]
        if len(named) > limit:
            yield f"Maximum number of application commands of this kind reached ({limit})"
        if len(named) != len(set(named)):
            yield "Application command names must be unique"
    for command in commands:
        yield from one_command_faults(command)


def one_command_faults(command: Mapping[str, Any]) -> Iterator[str]:
    name, description = str(command.get("name", "")), str(command.get("description") or "")
    if command.get("type", 1) == 1:
        if not COMMAND_NAME.match(name) or name != name.lower():
            yield f"name: {name!r} is invalid"
        if not 1 <= len(description) <= 100:
            yield "description: Must be between 1 and 100 in length"
    elif not MENU_NAME.match(name) or description:
        yield "a menu command has a name of 1 to 32 characters and no description"
    options = command.get("options") or []
    if len(options) > 25:
        yield "options: Must be 25 or fewer in length"
    required = [bool(option.get("required")) for option in options]
    if required != sorted(required, reverse=True):
        yield "options: Required options must be placed before non-required options"
    for option in options:
        yield from one_command_faults({**option, "type": 1})
