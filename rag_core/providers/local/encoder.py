"""A transformer encoder of the size of granite-embedding-30m, run by the ONNX Runtime.

`encoder.onnx` is the graph alone, without weights (training/encoder_graph.py writes it). The
weights come from a model pack, or from another file with tensors of the same names, such as a
model that was trained further; encoders may share one table of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.providers.local.pack import QuantizedMatrix, Tensor
from rag_core.providers.local.sessions import PROVIDERS, one_thread, release_memory

GRAPH = Path(__file__).with_name("encoder.onnx")
MAX_TOKENS = 512
WIDTH = 384
FIRST_POSITION = 2
"""Positions are counted from here on, as in all models of RoBERTa's kind."""
WORDS, POSITIONS, TYPES = "word_emb", "pos_emb", "type_emb"
SIGN = np.uint8(0x80)
"""The graph takes numbers from 0 to 255 with their zero at 128."""

Tokens = Sequence[int]


class Encoder:
    """Reads one text at a time; everything here blocks and may run in several threads."""

    def __init__(self, tensors: Mapping[str, Tensor], *, words: QuantizedMatrix) -> None:
        import onnxruntime as ort

        self._words = words
        positions, types = as_floats(tensors[POSITIONS]), as_floats(tensors[TYPES])
        self._positions = positions + types[0]
        options = one_thread()
        weights = initializers(tensors)
        options.add_external_initializers(
            list(weights), [ort.OrtValue.ortvalue_from_numpy(each) for each in weights.values()]
        )
        self._session = ort.InferenceSession(str(GRAPH), options, providers=PROVIDERS)
        self._release_memory = release_memory()

    def states(self, ids: Tokens, *, keep_memory: bool = False) -> NDArray[np.float32]:
        """The state of each token, in rows. Whoever reads many texts in a row keeps the memory
        between them: to fetch it anew for each takes as long again as to read it."""
        places = slice(FIRST_POSITION, FIRST_POSITION + len(ids))
        embeddings = self._words.rows(np.array(ids, dtype=np.int64)) + self._positions[places]
        options = None if keep_memory else self._release_memory
        (states,) = self._session.run(None, {"embeddings": embeddings[np.newaxis]}, options)
        rows: NDArray[np.float32] = states[0]
        return rows


def initializers(tensors: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """The weights of the layers by the graph's names."""
    weights: dict[str, NDArray[Any]] = {}
    for name, tensor in tensors.items():
        if name in {WORDS, POSITIONS, TYPES}:
            continue
        if isinstance(tensor, QuantizedMatrix):
            weights[name] = tensor.numbers.view(np.uint8) ^ SIGN
            weights[f"{name}.scales"] = np.array(tensor.scales)
        else:
            weights[name] = np.array(tensor)
    return weights


def as_floats(tensor: Tensor) -> NDArray[np.float32]:
    if isinstance(tensor, QuantizedMatrix):
        return tensor.rows(np.arange(len(tensor.scales)))
    return np.array(tensor)
