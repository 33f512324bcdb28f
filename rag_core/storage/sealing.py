"""Secrets at rest: sealed with the operator's keys before they reach the database."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from rag_core.errors import ConfigurationError

KEY_BYTES = 32


class Sealer:
    """Seals with the first key and opens with any: a key is changed by putting a new one first."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise ConfigurationError("FOOTNOTE_SECRET_KEYS is empty; it needs at least one key.")
        self._newest = Fernet(encoded(keys[0]))
        self._any = MultiFernet([Fernet(encoded(key)) for key in keys])

    def seal(self, text: str, *, about: str) -> str:
        """What it is about is sealed in, so that a row cannot stand in for another one."""
        return self._newest.encrypt(json.dumps([about, text]).encode()).decode()

    def open(self, sealed: str, *, about: str) -> str | None:
        """None where no key opens it, or where it was sealed for something else."""
        try:
            named, text = json.loads(self._any.decrypt(sealed.encode()))
        except InvalidToken:
            return None
        return text if named == about else None

    def is_newest(self, sealed: str) -> bool:
        """Whether it was sealed with the first key."""
        try:
            self._newest.decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True


def encoded(key: str) -> bytes:
    """A key of 32 bytes in base64, of either alphabet, as the library wants it."""
    try:
        raw = base64.b64decode(key.translate(str.maketrans("-_", "+/")), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != KEY_BYTES:
        raise ConfigurationError(
            "FOOTNOTE_SECRET_KEYS holds something that is no key of 32 bytes in base64;"
            " `openssl rand -base64 32` makes one."
        )
    return base64.urlsafe_b64encode(raw)
