"""Named points at which a test may end the process; in production none is ever reached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from rag_core.ports import Ledger

STEPS = ("accept", "claim", "advance", "settle", "begin_post", "posted", "close")
POINTS = tuple(f"{step}.{side}" for step in STEPS for side in ("before", "after"))


class Failpoint:
    """One point, and at which of its visits something happens there."""

    def __init__(self, name: str, *, visit: int, happens: Callable[[], None]) -> None:
        if name not in POINTS:
            raise ValueError(f"no such point: {name}")
        self._name = name
        self._left = visit
        self._happens = happens

    def pass_by(self, name: str) -> None:
        if name == self._name:
            self._left -= 1
            if not self._left:
                self._happens()


class WatchedLedger:
    """A ledger whose steps pass by a failpoint, before and after their effect."""

    def __init__(self, ledger: Ledger, point: Failpoint) -> None:
        self._ledger = ledger
        self._point = point

    def __getattr__(self, name: str) -> Any:
        step = getattr(self._ledger, name)
        return self._watched(name, step) if name in STEPS else step

    def _watched(
        self, name: str, step: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        async def watched(*arguments: Any, **named: Any) -> Any:
            self._point.pass_by(f"{name}.before")
            result = await step(*arguments, **named)
            self._point.pass_by(f"{name}.after")
            return result

        return watched


def watched(ledger: Ledger, point: Failpoint | None) -> Ledger:
    """The ledger itself where there is no failpoint."""
    return ledger if point is None else cast(Ledger, WatchedLedger(ledger, point))
