"""How much of a question's wording stands in a passage, in pieces of a few letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PIECE = 5
"""Bytes of a piece: it spans the end of one word and the start of the next as well."""
COMMON = 1.0
"""What a piece is worth that every passage has; a rare one is worth more."""
JUDGES = 80
"""The best passages say which pieces are rare, so that asking for more changes no order."""
SPACE = ord(" ")
LETTERS = bytes(
    byte if byte >= 128 else ord(chr(byte).lower()) if chr(byte).isalnum() else SPACE
    for byte in range(256)
)
PLAIN = bytes(range(128))
MARK = "’".encode()
"""Quotation marks and dashes begin alike, and are neither large nor small: many English texts have
no other signs, and to make a text small that has any takes ten times as long as reading it."""
BORDER = 0xFF
"""Stands between two passages. No text has this byte, so that no piece of a question spans it."""
WORD = 8
"""Bytes of a number: a piece is read with what comes after it, which is masked away."""
MASK = np.uint64((1 << 8 * PIECE) - 1)
MIXER, SIEVE = np.uint64(0x9E3779B97F << 64 - 8 * PIECE), 16
"""Most pieces of a passage are none of the question's: a table of so many bits says so at once."""


class Wording:
    """The pieces of some texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        letters = spaced_letters(texts)
        self._borders = np.flatnonzero(letters == BORDER)
        self._windows = windows(letters)
        self._sieved = sieved(self._windows)

    def held_of(self, question: str) -> NDArray[np.bool_]:
        """Which text has which of the question's pieces."""
        wanted = np.unique(windows(spaced_letters([question])[:-1]) & MASK)
        held = np.zeros((self._count, len(wanted)), dtype=np.bool_)
        if not held.size:
            return held
        sieve = np.zeros(1 << SIEVE, dtype=np.bool_)
        sieve[sieved(wanted)] = True
        at = np.flatnonzero(sieve.take(self._sieved))
        found = self._windows[at] & MASK
        place = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
        same = wanted[place] == found
        held[np.searchsorted(self._borders, at[same], side="right"), place[same]] = True
        return held


def shares(held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each text the share of the pieces it has, by their rarity among these: 0 to 1."""
    if not held.size:
        return np.zeros(len(held))
    worth = rarity(held[:JUDGES]) + COMMON
    parts: NDArray[np.float64] = held @ worth / worth.sum()
    return parts


def coverage(question: str, passages: Sequence[str]) -> list[float]:
    """For each passage the share of the question's pieces that it has: 0 to 1."""
    parts: list[float] = shares(Wording(passages).held_of(question)).tolist()
    return parts


def spaced_letters(texts: Sequence[str]) -> NDArray[np.uint8]:
    """The words alone, in lower case, with one space around each and a border after each text."""
    border = b" %c " % BORDER
    joined = border.join([lowered(text) for text in texts])
    raw = np.frombuffer((b" " + joined + border).translate(LETTERS), dtype=np.uint8)
    gaps = raw == SPACE
    gaps[1:] &= gaps[:-1]
    gaps[0] = False
    spaced: NDArray[np.uint8] = raw[~gaps][:-1]
    return spaced


def lowered(text: str) -> bytes:
    """In lower case; that of plain letters is left to the table of letters."""
    if text.isascii():
        return text.encode()
    written = text.encode("utf-8", "replace")
    others = written.translate(None, PLAIN)
    if len(MARK) * others.count(MARK[:-1]) == len(others):
        return written
    return text.lower().encode("utf-8", "replace")


def windows(letters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A number at each place: its first bytes are the piece that begins there."""
    count = max(0, len(letters) - PIECE + 1)
    buffer = letters.tobytes() + bytes(WORD)
    return np.ndarray(count, dtype="<u8", buffer=buffer, strides=(1,))


def sieved(windows: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A few bits of each piece, mixed: as places of a table, which are read without a copy.

    The mixer ends in as many noughts as a window has bits behind its piece, which so fall away."""
    bits = windows * MIXER
    bits >>= np.uint64(64 - SIEVE)
    return bits.view(np.int64)


def rarity(held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """BM25's weight of each piece, counted over these passages."""
    having = held.sum(axis=0)
    weights: NDArray[np.float64] = np.log1p((len(held) - having + 0.5) / (having + 0.5))
    return weights
