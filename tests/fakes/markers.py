"""Markers kept in memory."""

from __future__ import annotations


class MemoryMarkers:
    """Small facts that last as long as the test."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def get(self, name: str) -> str | None:
        return self.values.get(name)

    async def set(self, name: str, value: str) -> None:
        self.values[name] = value
