"""What is wrong with a body, field by field, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ALLOWED = {
    "missing": "a value",
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_unicode": "valid Unicode text",
    "model_attributes_type": "a JSON object",
    "model_type": "a JSON object",
    "dict_type": "a JSON object",
    "json_invalid": "valid JSON",
}
LENGTHS = ("too_long", "too_short", "string_too_long")


def field_errors(errors: Sequence[Any], *, fields: Sequence[str] = ()) -> list[dict[str, str]]:
    """The faults of a body that has these fields."""
    return [field_error(error, fields) for error in errors]


def field_error(error: Mapping[str, Any], fields: Sequence[str]) -> dict[str, str]:
    kind = str(error["type"])
    place = "body" if kind == "json_invalid" else place_in_body(error["loc"])
    allowed = allowed_values(kind, error.get("ctx", {}))
    message = sentence(kind, place, allowed)
    if kind == "extra_forbidden":
        return {"field": place, "message": message, "allowed": ", ".join(fields)}
    return {"field": place.partition(".")[0], "message": message, "allowed": allowed}


def place_in_body(location: Sequence[str | int]) -> str:
    """`body`, or the path below it: `book_ids.0`."""
    path = [str(step) for step in location]
    return ".".join(path[1:]) or path[0]


def allowed_values(kind: str, context: Mapping[str, Any]) -> str:
    if kind == "literal_error":
        return str(context.get("expected", "")).replace("'", "").removeprefix(", ")
    if kind == "too_long":
        return f"at most {counted(context['max_length'])}"
    if kind == "too_short":
        return f"at least {counted(context['min_length'])}"
    if kind == "string_too_long":
        return f"at most {context.get('max_length')} characters"
    if kind == "greater_than_equal":
        return f"at least {context.get('ge')}"
    if kind == "less_than_equal":
        return f"at most {context.get('le')}"
    if kind == "value_error":
        return str(context.get("error", ""))
    return ALLOWED.get(kind, "")


def counted(bound: int) -> str:
    return f"{bound} entry" if bound == 1 else f"{bound} entries"


def sentence(kind: str, place: str, allowed: str) -> str:
    if kind == "extra_forbidden":
        return f"{place} is not a known field."
    if kind == "missing":
        return f"{place} is missing."
    if kind == "json_invalid":
        return "The body is not valid JSON."
    verb = "have" if kind in LENGTHS else "be"
    return f"{place} must {verb} {allowed}." if allowed else f"{place} is not valid."
