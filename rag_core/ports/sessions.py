"""Where sign-ins of browsers are kept, so that they outlive a restart and can be ended."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A browser that showed an access key: only the hash of its cookie is known here."""

    digest: str
    """Of the cookie, in hex."""
    key_fingerprint: str
    ends_at: datetime


class SignInStore(Protocol):
    """The sign-ins that have not ended."""

    async def begin(self, sign_in: SignIn) -> None: ...

    async def find(self, digest: str) -> SignIn | None:
        """None: there is none, it ran out or was ended."""
        ...

    async def end(self, digest: str) -> None: ...

    async def end_others(self, key_fingerprints: Collection[str]) -> None:
        """End the sign-ins of all keys but these."""
        ...
