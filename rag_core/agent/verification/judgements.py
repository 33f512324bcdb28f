"""Reads the verdicts in a model's reply, however it is shaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from rag_core.agent.verification.claims import Support
from rag_core.text.visible import visible

OPENING = re.compile(r"[{\[]")
NUMBER = re.compile(r"\W*(?:[^\W\d]+\W*)?(\d{1,6})\W*")
"""`2`, `[2]`, `claim 2`."""
NOT_LETTERS = re.compile(r"[\W\d_]+")
FALLS_SHORT = re.compile(r"(?:un|not|notfully|partly|partially)supported")
SUPPORT_BY_LETTERS = {NOT_LETTERS.sub("", support.value): support for support in Support}
DEEPEST = 8
"""How far verdicts are looked for inside of what a model wraps them in."""


def number_in(value: object) -> int | None:
    found = NUMBER.fullmatch(str(value).removesuffix(".0"))
    return int(found[1]) if found else None


def support_in(value: object) -> object:
    letters = NOT_LETTERS.sub("", str(value).casefold())
    if FALLS_SHORT.fullmatch(letters):
        return Support.NOT_FOUND
    return SUPPORT_BY_LETTERS.get(letters, value)


def text_in(value: object) -> str:
    return visible(str(value)) if isinstance(value, str | int | float) else ""


def pieces_in(value: object) -> list[object]:
    """Pieces with or without their passage, a single one, or none."""
    pieces = value if isinstance(value, list) else [value]
    named = ({"text": each} if isinstance(each, str) else each for each in pieces)
    return [each for each in named if isinstance(each, dict)]


Text = Annotated[str, BeforeValidator(text_in)]


class Words(BaseModel):
    """What a model says that it copied, and from which passage."""

    passage: Annotated[int | None, BeforeValidator(number_in)] = None
    text: Text = ""


class Judgement(BaseModel):
    """What a model says of one claim."""

    claim: Annotated[int, BeforeValidator(number_in)]
    verdict: Annotated[Support, BeforeValidator(support_in)]
    words: Annotated[list[Words], BeforeValidator(pieces_in)] = Field(default_factory=list)
    reason: Text = ""


def judgements_in(reply: str) -> Mapping[int, Judgement]:
    """The judgement of each claim, by its number from 1; some may be missing."""
    found = {each.claim: each for value in json_values(reply) for each in judged(value)}
    return {number + 1: each for number, each in found.items()} if 0 in found else found


def judged(value: Any, claim: object = None, *, depth: int = DEEPEST) -> Iterator[Judgement]:
    """Each object with a verdict, wherever it stands; one without a claim's number has the key
    that it stands under."""
    if not depth:
        return
    match value:
        case {"verdict": _}:
            try:
                yield Judgement.model_validate({"claim": claim, **value})
            except ValidationError:
                return  # this claim has no verdict
        case dict():
            for key, each in value.items():
                yield from judged(each, key, depth=depth - 1)
        case list():
            for each in value:
                yield from judged(each, claim, depth=depth - 1)
        case str() if value.lstrip().startswith(("{", "[")):
            for each in json_values(value):
                yield from judged(each, claim, depth=depth - 1)


def with_small_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name.casefold(): value for name, value in pairs}


def json_values(text: str) -> Iterator[Any]:
    """Whatever JSON stands in a text, outermost first: within a fence, among words, cut off."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=with_small_names)
    place = 0
    while found := OPENING.search(text, place):
        try:
            value, place = decoder.raw_decode(text, found.start())
        except json.JSONDecodeError:
            place = found.start() + 1
            continue
        except RecursionError:  # nothing but brackets
            return
        yield value
