"""How much of a question's wording stands in a passage, in pieces of a few letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PIECE = 5
"""Bytes of a piece: it spans the end of one word and the start of the next as well."""
COMMON = 1.0
"""What a piece is worth that every passage has; a rare one is worth more."""
JUDGES = 100
"""The best passages say which pieces are rare, so that asking for more changes no order."""
LETTERS = bytes(byte if byte >= 128 or chr(byte).isalnum() else ord(" ") for byte in range(256))
GAP = b" \x00 "
"""Between two passages: no piece of a question spans it."""


def coverage(question: str, passages: Sequence[str]) -> list[float]:
    """For each passage the share of the question's pieces that it has, by their rarity: 0 to 1."""
    wanted = np.unique(codes(spaced(question)))
    if not len(wanted) or not passages:
        return [0.0] * len(passages)
    held = holdings(wanted, [spaced(passage) for passage in passages])
    worth = rarity(held[:JUDGES]) + COMMON
    shares: list[float] = (held @ worth / worth.sum()).tolist()
    return shares


def spaced(text: str) -> bytes:
    """The words alone, in lower case, with one space around each."""
    words = text.lower().encode("utf-8", "replace").translate(LETTERS).split()
    return b" " + b" ".join(words) + b" " if words else b""


def codes(text: bytes) -> NDArray[np.uint64]:
    """Every piece of the text as a number, in order."""
    letters = np.frombuffer(text, dtype=np.uint8).astype(np.uint64)
    count = max(0, len(letters) - PIECE + 1)
    pieces = np.zeros(count, dtype=np.uint64)
    for place in range(PIECE):
        pieces = pieces << np.uint64(8) | letters[place : place + count]
    return pieces


def holdings(wanted: NDArray[np.uint64], passages: Sequence[bytes]) -> NDArray[np.bool_]:
    """Which passage has which of the wanted pieces; `wanted` is sorted."""
    found = codes(GAP.join(passages))
    place = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
    at = np.flatnonzero(wanted[place] == found)
    ends = np.cumsum([len(passage) + len(GAP) for passage in passages])
    held = np.zeros((len(passages), len(wanted)), dtype=np.bool_)
    held[np.searchsorted(ends, at, side="right"), place[at]] = True
    return held


def rarity(held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """BM25's weight of each piece, counted over these passages."""
    having = held.sum(axis=0)
    weights: NDArray[np.float64] = np.log1p((len(held) - having + 0.5) / (having + 0.5))
    return weights
