"""Words of the command line as values; what cannot be one is refused in a plain sentence."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from math import isfinite
from typing import Any, TypeVar
from uuid import UUID

import typer

Choice = TypeVar("Choice", bound=StrEnum)


def one_of(choices: type[Choice]) -> Callable[[str], Choice]:
    """A parser that says what can be chosen."""
    *others, last = choices
    allowed = f"{', '.join(others)} or {last}" if others else str(last)

    def choice(text: str) -> Choice:
        try:
            return choices(text)
        except ValueError:
            raise typer.BadParameter(f"must be {allowed}; it was {text!r}.") from None

    return choice


def between(least: int, most: int) -> Callable[[str], int]:
    """A parser of whole numbers within bounds."""

    def number(text: str) -> int:
        if not least <= (found := whole_number(text)) <= most:
            raise typer.BadParameter(f"must be between {least} and {most}; it was {found}.")
        return found

    return number


def number(meaning: str) -> Any:
    """An option that takes a whole number; its bounds are the door's to check."""
    return typer.Option(parser=whole_number, metavar="N", help=meaning)


def whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"must be a whole number; it was {text!r}.") from None


def fraction(text: str) -> float:
    try:
        if isfinite(found := float(text)):
            return found
    except ValueError:
        pass
    raise typer.BadParameter(f"must be a number; it was {text!r}.")


def identifier(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise typer.BadParameter(f"must be a UUID; it was {text!r}.") from None
