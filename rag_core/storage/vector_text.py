"""Vectors as text in the database, and back."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence


def vector_to_text(vector: Sequence[float]) -> str:
    """Half precision is plenty for telling topics apart."""
    return base64.b64encode(struct.pack(f"<{len(vector)}e", *vector)).decode()


def vector_from_text(text: str) -> tuple[float, ...]:
    packed = halves_from_text(text)
    return struct.unpack(f"<{len(packed) // 2}e", packed)


def halves_from_text(text: str) -> bytes:
    """The same as it was packed, for who compares many."""
    return base64.b64decode(text)
