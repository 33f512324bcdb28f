"""What Discord refuses in the answer to an interaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.peers.discord_rules import MAX_CUSTOM_ID, Refused, check, check_message

EPHEMERAL, LOADING = 1 << 6, 1 << 7
EDITABLE_FLAGS = (1 << 2) | (1 << 15)
ALLOWED_CALLBACKS = {2: {4, 5, 9}, 3: {4, 5, 6, 7, 9}, 4: {8}, 5: {4, 5, 6, 7}}
"""Commands, components, autocompletion and forms: which answers each of them takes."""
MAX_CHOICES, MAX_CHOICE, MAX_TITLE, MAX_INPUT_LABEL = 25, 100, 45, 45
TEXT_INPUT = 4


def check_reply(body: Mapping[str, Any], *, edit: bool = False) -> None:
    """A message by an interaction's token: private where it begins so, never made so later."""
    flags = body.get("flags", 0)
    if edit:
        check(["flags: cannot be set on an edit"] if flags & ~EDITABLE_FLAGS else [])
    check(["nonce: an interaction has none"] if body.get("nonce") else [])
    check_message({**body, "flags": flags & ~EPHEMERAL}, edit=edit)


def check_choices(data: Mapping[str, Any]) -> None:
    choices = data.get("choices")
    if not isinstance(choices, list) or len(choices) > MAX_CHOICES:
        raise Refused(400, 50035, "Invalid Form Body", [f"choices: at most {MAX_CHOICES}"])
    check(
        f"choices.{part}: Must be between 1 and {MAX_CHOICE} in length"
        for choice in choices
        for part in ("name", "value")
        if not 1 <= len(str(choice.get(part, ""))) <= MAX_CHOICE
    )


def check_modal(data: Mapping[str, Any]) -> None:
    check(modal_faults(data))


def modal_faults(data: Mapping[str, Any]) -> Iterator[str]:
    if not 1 <= len(data.get("title") or "") <= MAX_TITLE:
        yield f"title: Must be between 1 and {MAX_TITLE} in length"
    if not 1 <= len(data.get("custom_id") or "") <= MAX_CUSTOM_ID:
        yield f"custom_id: Must be between 1 and {MAX_CUSTOM_ID} in length"
    rows = data.get("components") or []
    if not 1 <= len(rows) <= 5:
        yield "components: Must be between 1 and 5 in length"
    for row in rows:
        items = row.get("components") or []
        if row.get("type") != 1 or len(items) != 1 or items[0].get("type") != TEXT_INPUT:
            yield "components: a row of a form holds one text input"
            continue
        if not 1 <= len(items[0].get("label") or "") <= MAX_INPUT_LABEL:
            yield f"components.label: Must be between 1 and {MAX_INPUT_LABEL} in length"
        if not 1 <= len(items[0].get("custom_id") or "") <= MAX_CUSTOM_ID:
            yield f"components.custom_id: Must be between 1 and {MAX_CUSTOM_ID} in length"
        if items[0].get("style") not in {1, 2}:
            yield "components.style: This field is required"
        if not 1 <= items[0].get("max_length", 4_000) <= 4_000:
            yield "components.max_length: Must be between 1 and 4000"


def check_options(command: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """What a person's client does not let them send."""
    known = {option["name"]: option for option in command.get("options", [])}
    assert set(options) <= set(known), f"unknown options {set(options) - set(known)}"
    for name, option in known.items():
        assert name in options or not option.get("required"), f"{name} is required"
        value = options.get(name)
        if isinstance(value, str):
            assert option["type"] == 3
            assert option.get("min_length", 0) <= len(value) <= option.get("max_length", 6_000)
            choices = [choice["value"] for choice in option.get("choices", [])]
            assert not choices or value in choices
        elif isinstance(value, bool):
            assert option["type"] == 5
        elif isinstance(value, int):
            assert option["type"] == 4
            assert option.get("min_value", value) <= value <= option.get("max_value", value)
        elif value is not None:
            assert option["type"] == 7
            assert value.kind in option.get("channel_types", [value.kind])
