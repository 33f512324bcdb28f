"""What Slack refuses in a message, by Slack's own names; pure functions over payloads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_TEXT = 40_000
MAX_BLOCKS = 50
MAX_MARKDOWN = 12_000
MAX_ALL_BLOCKS = 13_200
MAX_METADATA = 8_000
TEXT_LIMITS = {"section": 3_000, "header": 150, "context": 2_000, "button": 75}
ELEMENT_LIMITS = {"context": 10, "actions": 25, "context_actions": 5}
ELEMENTS = {
    "actions": {"button", "static_select", "users_select", "overflow", "checkboxes"},
    "context": {"mrkdwn", "plain_text", "image"},
    "context_actions": {"feedback_buttons", "icon_button"},
}
PINGS = re.compile(
    r"<!(?:channel|here|everyone|subteam\^[A-Z0-9]+)(?:\|[^>]*)?>|<@[UWB][A-Z0-9]+[^>]*>"
)


class Refused(Exception):
    """Slack says no: the name of the error, and what a developer is told beside it."""

    def __init__(self, error: str, detail: str = "", **extra: Any) -> None:
        super().__init__(f"{error}: {detail}" if detail else error)
        self.error = error
        self.detail = detail
        self.extra = extra


def check_message(payload: Mapping[str, Any]) -> None:
    """Raises Refused for what chat.postMessage and chat.update would not take."""
    text, blocks = payload.get("text"), payload.get("blocks")
    if text is not None and not isinstance(text, str):
        raise Refused("invalid_arguments", "text must be a string")
    if not (text or "").strip() and not blocks:
        raise Refused("no_text")
    if len(text or "") > MAX_TEXT:
        raise Refused("msg_too_long", f"{len(text or '')} characters of text")
    if blocks is not None:
        if not (text or "").strip():
            raise Refused("invalid_arguments", "blocks need a text beside them for notifications")
        check_blocks(blocks, at_most=MAX_BLOCKS)
    check_metadata(payload.get("metadata"))


def check_metadata(metadata: Any) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or set(metadata) != {"event_type", "event_payload"}:
        raise Refused("invalid_metadata_format", "event_type and event_payload, nothing else")
    if not isinstance(metadata["event_type"], str) or not isinstance(
        metadata["event_payload"], dict
    ):
        raise Refused("invalid_metadata_format")
    if len(json.dumps(metadata)) > MAX_METADATA:
        raise Refused("metadata_too_large")


def check_blocks(blocks: Any, *, at_most: int) -> None:
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    if len(blocks) > at_most:
        raise Refused("invalid_blocks", f"no more than {at_most} items allowed")
    ids = [block["block_id"] for block in blocks if isinstance(block, dict) and "block_id" in block]
    if len(ids) != len(set(ids)):
        raise Refused("invalid_blocks", "block_id must be unique")
    for block in blocks:
        check_block(block)
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    if markdown > MAX_MARKDOWN:
        raise Refused("invalid_blocks", f"markdown blocks have {markdown} characters")
    characters = sum(len(text) for text in texts_of(blocks))
    if characters > MAX_ALL_BLOCKS:
        raise Refused("msg_blocks_too_long", f"{characters} characters in all blocks")


def check_block(block: Any) -> None:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        raise Refused("invalid_blocks", "a block is an object with a type")
    if len(block.get("block_id", "")) > 255:
        raise Refused("invalid_blocks", "block_id is too long")
    match block["type"]:
        case "markdown":
            _text(block.get("text"), MAX_MARKDOWN, "markdown")
        case "section":
            _text_object(block.get("text"), TEXT_LIMITS["section"], {"mrkdwn", "plain_text"})
        case "header":
            _text_object(block.get("text"), TEXT_LIMITS["header"], {"plain_text"})
        case "context" | "actions" | "context_actions":
            _check_elements(block["type"], block.get("elements"))
        case "input":
            _check_input(block)
        case "divider":
            pass
        case other:
            raise Refused("invalid_blocks", f"unsupported type: {other}")


def _check_elements(kind: str, elements: Any) -> None:
    if not isinstance(elements, list) or not 1 <= len(elements) <= ELEMENT_LIMITS[kind]:
        raise Refused("invalid_blocks", f"{kind} needs 1 to {ELEMENT_LIMITS[kind]} elements")
    actions = [element["action_id"] for element in elements if "action_id" in element]
    if len(actions) != len(set(actions)):
        raise Refused("invalid_blocks", "action_id must be unique within a block")
    for element in elements:
        if element.get("type") not in ELEMENTS[kind]:
            raise Refused("invalid_blocks", f"{element.get('type')} does not belong in {kind}")
        if kind == "context" and element["type"] != "image":
            _text_object(element, TEXT_LIMITS["context"], {"mrkdwn", "plain_text"})
        elif element["type"] == "button":
            _check_button(element)
        elif element["type"] == "feedback_buttons":
            _check_feedback(element)


def _check_input(block: Mapping[str, Any]) -> None:
    _text_object(block.get("label"), 2_000, {"plain_text"})
    element = block.get("element") or {}
    if element.get("type") != "plain_text_input" or not element.get("action_id"):
        raise Refused("invalid_blocks", "an input needs an element with an action_id")
    if not 1 <= element.get("max_length", 3_000) <= 3_000:
        raise Refused("invalid_blocks", "max_length is 1 to 3000")


def _check_feedback(element: Mapping[str, Any]) -> None:
    if not element.get("action_id"):
        raise Refused("invalid_blocks", "feedback_buttons need an action_id")
    for side in ("positive_button", "negative_button"):
        button = element.get(side) or {}
        _text_object(button.get("text"), TEXT_LIMITS["button"], {"plain_text"})
        if not 1 <= len(button.get("value", "")) <= 2_000:
            raise Refused("invalid_blocks", f"{side} needs a value")
        if len(button.get("accessibility_label", "")) > 75:
            raise Refused("invalid_blocks", "accessibility_label is longer than 75")


def _check_button(button: Mapping[str, Any]) -> None:
    _text_object(button.get("text"), TEXT_LIMITS["button"], {"plain_text"})
    if button.get("style", "primary") not in {"primary", "danger"}:
        raise Refused("invalid_blocks", "style is primary or danger")
    for name, limit in {"value": 2_000, "action_id": 255, "url": 3_000}.items():
        if len(button.get(name, "")) > limit:
            raise Refused("invalid_blocks", f"{name} is longer than {limit}")


def _text_object(value: Any, limit: int, kinds: set[str]) -> None:
    if not isinstance(value, dict) or value.get("type") not in kinds:
        raise Refused("invalid_blocks", f"a text object of {sorted(kinds)} is missing")
    _text(value.get("text"), limit, value["type"])


def _text(value: Any, limit: int, where: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise Refused("invalid_blocks", f"{where} text must not be empty")
    if len(value) > limit:
        raise Refused("invalid_blocks", f"{where} text has {len(value)} characters, not {limit}")


def texts_of(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Every text that stands in blocks."""
    for block in blocks:
        text = block.get("text")
        if isinstance(text, str):
            yield text
        elif isinstance(text, dict):
            yield text["text"]
        for element in block.get("elements", ()):
            label = element.get("text")
            if isinstance(label, str):
                yield label
            elif isinstance(label, dict):
                yield label["text"]


def pings_in(payload: Mapping[str, Any]) -> list[str]:
    """Everything in a message that would notify somebody: Slack reads these wherever they stand."""
    texts = [payload.get("text") or "", *texts_of(payload.get("blocks") or ())]
    return [found[0] for text in texts for found in PINGS.finditer(text)]


def unescaped(text: str) -> str:
    """Text as Slack shows it: only these three characters are escaped."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
