"""Cuts texts into the pieces that a local model reads at once, and joins the pieces' vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_core.ports import Vector

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MARKS = 2
"""Tokens that stand around every text: one before and one after."""
FURTHER = 0.5
"""What a token further down counts, beside one that the model reads first."""
LONGEST_LEAD = 64
"""Tokens of a first paragraph that names what the text is about, and so stands before each
further piece."""

Tokens = Sequence[int]


class Piece(NamedTuple):
    """A part of a text that the model reads at once, and what it counts in the whole."""

    ids: Tokens
    weight: float


Pieces = list[Piece]
"""A text, the part that is read first before the others."""


class TextModel(Protocol):
    """A model that is loaded; everything here blocks and may run in several threads."""

    @property
    def tokenizer(self) -> PieceTokenizer: ...

    def embed(self, ids: Tokens, *, keep_memory: bool = False) -> NDArray[np.float32]:
        """The vector of one piece, of length one. Whoever reads many in a row keeps the memory
        between them: to fetch it anew for each takes as long again as to read it."""
        ...


class PieceTokenizer:
    """Cuts texts with a model's own tokenizer."""

    def __init__(self, tokenizer: Tokenizer, *, max_tokens: int, most_pieces: int) -> None:
        """`max_tokens`: what the model reads at once. `most_pieces`: of one text; passages of prose
        have one or two, and a wall of signs is not read to its end."""
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._most_pieces = most_pieces

    @property
    def nothing(self) -> Tokens:
        """The marks alone."""
        ids: Tokens = self._tokenizer.encode("").ids
        return ids

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Each text in as many pieces as the model takes to read it."""
        whole = self._tokenizer.encode_batch([encodable(text) for text in texts])
        return [
            pieces_of(
                encoding.ids,
                self._lead(text) if len(encoding.ids) > self._max_tokens else 0,
                max_tokens=self._max_tokens,
                most_pieces=self._most_pieces,
            )
            for text, encoding in zip(texts, whole, strict=True)
        ]

    def _lead(self, text: str) -> int:
        """How many tokens the first paragraph has, where it is short and others follow."""
        lead, _, rest = encodable(text).partition("\n\n")
        count = len(self._tokenizer.encode(lead, add_special_tokens=False).ids) if rest else 0
        return count if count <= LONGEST_LEAD else 0


def encodable(text: str) -> str:
    """The text without the halves of characters that JSON can smuggle in."""
    return text.encode("utf-8", "replace").decode()


def pieces_of(ids: Tokens, lead: int, *, max_tokens: int, most_pieces: int) -> Pieces:
    """What is read first, and then the rest; `lead` tokens at the start name the subject."""
    start, *inner, end = ids
    room = max_tokens - MARKS
    pieces = [Piece([start, *inner[:room], end], weight=float(len(inner[:room]) or 1))]
    subject = inner[:lead]
    for at in range(room, len(inner), room - lead):
        if len(pieces) == most_pieces:
            break
        part = inner[at : at + room - lead]
        pieces.append(Piece([start, *subject, *part, end], weight=FURTHER * len(part)))
    return pieces


def joined(texts: Sequence[Pieces], read: NDArray[np.float32]) -> list[Vector]:
    """One vector of length one for each text, from those of its pieces in their order."""
    vectors: list[Vector] = []
    at = 0
    for pieces in texts:
        weights = np.array([piece.weight for piece in pieces], dtype=np.float32)
        vectors.append(unit(weights @ read[at : at + len(pieces)]).tolist())
        at += len(pieces)
    return vectors


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    of_length_one: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return of_length_one
