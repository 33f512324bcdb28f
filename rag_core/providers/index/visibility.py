"""What readers of an index may see while files are replaced: all of a version, or none of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The parts of the index that are not for readers: versions on their way in or out."""

    hidden: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    """Books that are being removed."""


@dataclass(slots=True)
class Readers:
    """Those who look through one view."""

    view: View
    number: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class Visibility:
    """The current view, swapped in one assignment, and who still looks through an older one."""

    def __init__(self, view: View) -> None:
        self._current = Readers(view)
        self._older: list[Readers] = []

    @property
    def view(self) -> View:
        return self._current.view

    @contextmanager
    def reading(self) -> Iterator[View]:
        """The view for one reader, which stays true until it leaves."""
        readers = self._current
        readers.number += 1
        try:
            yield readers.view
        finally:
            readers.number -= 1
            if not readers.number:
                readers.gone.set()

    async def switch(self, view: View) -> None:
        """New readers get the new view; returns when nobody looks through an older one."""
        self._older.append(self._current)
        self._current = Readers(view)
        for readers in self._older:
            readers.gone.clear()
            if readers.number:
                await readers.gone.wait()
        self._older.clear()
