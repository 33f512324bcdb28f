"""Standard output for documents, standard error for everything said on the way."""

from __future__ import annotations

import json
import sys

from rich.console import Console


def print_json(document: object) -> None:
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def terminal() -> Console:
    """For what a command was asked for. Text from documents is never taken for markup."""
    return Console(markup=False, highlight=False, emoji=False)


def notices() -> Console:
    """For progress and remarks."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)
