"""Where it is counted what answers cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

Tenant = tuple[str, str]
"""A platform and a server or workspace on it."""


class UsageStore(Protocol):
    """Counts the tokens that each server or workspace used."""

    async def tokens_lately(self) -> Mapping[Tenant, int]:
        """Of the last twenty-four hours, the greatest number first."""
        ...
