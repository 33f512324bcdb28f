"""Vectors as text in the database, and back."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def vector_to_text(vector: Sequence[float]) -> str:
    """Half precision is plenty for telling topics apart."""
    return base64.b64encode(struct.pack(f"<{len(vector)}e", *vector)).decode()


def vector_from_text(text: str) -> tuple[float, ...]:
    packed = base64.b64decode(text)
    return struct.unpack(f"<{len(packed) // 2}e", packed)


def array_from_text(text: str) -> NDArray[np.float16]:
    """The same without a number for each place, for who compares many."""
    return np.frombuffer(base64.b64decode(text), dtype="<f2")
