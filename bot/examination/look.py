"""One thing to look at, and many of them side by side, each within its bound."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from adapters.steward import Finding
from rag_core.errors import FootnoteError

LOOK_SECONDS = 10.0
"""How long one part may take to answer."""

Look = Callable[[], Awaitable[Sequence[Finding]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A part of the house, how it is looked at, and what to do where that fails."""

    name: str
    look: Look
    advice: str
    seconds: float = LOOK_SECONDS


def in_place(name: str, detail: str) -> Finding:
    return Finding(name=name, in_place=True, detail=detail)


def missing(name: str, detail: str, advice: str) -> Finding:
    return Finding(name=name, in_place=False, detail=detail, advice=advice)


def warning(name: str, detail: str, advice: str) -> Finding:
    """In place, and yet there is something to do about it."""
    return Finding(name=name, in_place=True, detail=detail, advice=advice, is_warning=True)


async def side_by_side(checks: Iterable[Check]) -> Sequence[Finding]:
    """Everything at once; what is found stands in the order of the checks."""
    async with asyncio.TaskGroup() as tasks:
        looks = [tasks.create_task(looked(check)) for check in checks]
    return [finding for look in looks for finding in look.result()]


async def looked(check: Check) -> Sequence[Finding]:
    """What a look finds; what it meets with is a finding too."""
    try:
        async with asyncio.timeout(check.seconds):
            return await check.look()
    except TimeoutError:
        return [missing(check.name, f"no answer within {check.seconds:.0f} s.", check.advice)]
    except FootnoteError as error:
        return [missing(check.name, str(error), check.advice)]
