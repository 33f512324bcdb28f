"""The embedder that needs no key: a local model, in threads of this process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from threading import Lock, get_native_id
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_core.ports import Vector
from rag_core.providers.embedders.granite import Granite
from rag_core.providers.embedders.minilm import MiniLM
from rag_core.providers.embedders.models import FORMER_LOCAL_MODEL, LOCAL_MODEL
from rag_core.providers.embedders.pieces import Pieces, TextModel, Tokens, joined

LOADERS: Mapping[str, Callable[[], TextModel]] = {
    LOCAL_MODEL: Granite,
    FORMER_LOCAL_MODEL: MiniLM,
}
DIMENSION = 384
CUT_AT_ONCE = 64
"""Texts, which takes no longer than reading a few."""
THREADS = min(8, os.cpu_count() or 1)
"""As many read at once, each with some 30 MB to work in."""
IN_A_ROW = 8 * THREADS
"""Pieces of one caller's texts, half a second's work; then others have their turn."""
NICENESS = 10
"""Of the threads that read documents."""

P = TypeVar("P")
T = TypeVar("T")


class LocalEmbedder:
    """Embeds on this machine; the model is loaded when it is first needed.

    Questions and documents have threads of their own: nobody who asks waits for a book."""

    def __init__(
        self,
        *,
        model: str,
        load: Callable[[], TextModel],
        questions: ThreadPoolExecutor,
        documents: ThreadPoolExecutor,
    ) -> None:
        self._name = model
        self._load = load
        self._questions = questions
        self._documents = documents
        self._loading = Lock()
        self._model: TextModel | None = None

    @property
    def model(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return DIMENSION

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Some at a time, so that who brings one text does not wait for another's whole file."""
        texts_in_pieces: list[Pieces] = []
        for start in range(0, len(texts), CUT_AT_ONCE):
            texts_in_pieces += await self._read(self._cut_now, texts[start : start + CUT_AT_ONCE])
        flat = [piece.ids for pieces in texts_in_pieces for piece in pieces]
        by_length = sorted(range(len(flat)), key=lambda place: len(flat[place]))
        read = np.zeros((len(flat), DIMENSION), dtype=np.float32)
        for start in range(0, len(by_length), IN_A_ROW):
            places = by_length[start : start + IN_A_ROW]
            read[places] = await asyncio.gather(
                *(self._read(self._embed_now, flat[place]) for place in places)
            )
        if flat:
            await self._read(self._release_memory, None)
        return await self._read(partial(joined, texts_in_pieces), read)

    async def embed_query(self, text: str) -> Vector:
        """By what the model reads at once: a question is not longer."""
        read = asyncio.get_running_loop().run_in_executor(self._questions, self._query_now, text)
        vector: Vector = (await read).tolist()
        return vector

    async def _read(self, work: Callable[[P], T], given: P) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._documents, work, given)

    def _cut_now(self, texts: Sequence[str]) -> list[Pieces]:
        return self._loaded().tokenizer.pieces(texts)

    def _embed_now(self, ids: Tokens) -> NDArray[np.float32]:
        return self._loaded().embed(ids, keep_memory=True)

    def _release_memory(self, _: None) -> None:
        """What was kept for the texts before is given back after a last one."""
        model = self._loaded()
        model.embed(model.tokenizer.nothing)

    def _query_now(self, text: str) -> NDArray[np.float32]:
        model = self._loaded()
        return model.embed(model.tokenizer.pieces([text])[0][0].ids)

    def _loaded(self) -> TextModel:
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model


@asynccontextmanager
async def open_local_embedder(
    model: str = LOCAL_MODEL, *, load: Callable[[], TextModel] | None = None
) -> AsyncIterator[LocalEmbedder]:
    """The embedder with its threads, which end with the context."""
    questions = ThreadPoolExecutor(THREADS, "embedder-questions")
    documents = ThreadPoolExecutor(THREADS, "embedder-documents", initializer=step_back)
    try:
        yield LocalEmbedder(
            model=model,
            load=load or LOADERS[model],
            questions=questions,
            documents=documents,
        )
    finally:
        await asyncio.to_thread(questions.shutdown, cancel_futures=True)
        await asyncio.to_thread(documents.shutdown, cancel_futures=True)


def step_back() -> None:
    """Leave the processor to the other threads when they want it. Only Linux has this for a thread
    by itself; elsewhere documents are read as eagerly as all else is done."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, get_native_id(), NICENESS)
