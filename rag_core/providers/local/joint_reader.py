"""The reader that was trained for Footnote: it reads a question and a section together.

training/README.md tells what it was trained on and how. Its first layers are those of the local
embedder, from whose pack it also takes the table of words and the tokenizer.
"""

from __future__ import annotations

import asyncio
import os
from bisect import bisect_left
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from rag_core.ports import Reading
from rag_core.providers.embedders.granite import granite_pack, usual_weights, words_of
from rag_core.providers.embedders.pieces import encodable
from rag_core.providers.local.encoder import Encoder
from rag_core.providers.local.pack import Tensor, read_pack
from rag_core.providers.spare_memory import give_back
from rag_core.reading.units import SectionUnits
from rag_core.reading.words import word_shares

NAME = "footnote-reader-1"
WEIGHTS = Path(__file__).with_name("reader.hmsemb")
SHA256 = "653a6d6c84c18345550ef6abd7704f4ece4b05f61e7e4dd31c85d9cca46f7865"
PACKAGE = "footnote-bot"
MAX_TOKENS = 288
"""What it was trained to read at once; of a longer section it reads the part round the unit that
has most of the question's words."""
MAX_QUESTION, MAX_HEADINGS = 64, 40
MOST_READ = 3
"""Sections that are read for one question: more cost more and tell nothing more."""
START, END = 0, 2
HEAD = "head."
"""How the tensors are called that are no layers of the encoder."""
RELEVANCE_WEIGHT = 0.05
"""What the reader's relevance, as log odds, adds to the score that the search gave."""
THREADS = min(8, os.cpu_count() or 1)

Floats = NDArray[np.float32]


class JointReader:
    """Reads sections in threads of its own; the model is loaded when it is first needed."""

    def __init__(self, threads: ThreadPoolExecutor, *, weights: Path = WEIGHTS) -> None:
        self._threads = threads
        self._weights = weights
        self._loading = Lock()
        self._model: JointModel | None = None

    @property
    def name(self) -> str:
        return NAME

    async def read(self, question: str, sections: Sequence[SectionUnits]) -> Sequence[Reading]:
        """The first sections are read; the others, which are seldom better, are taken to be no
        better than the worst of these."""
        if not sections:
            return []
        loop = asyncio.get_running_loop()
        shares = word_shares(question, sections)
        best = [
            loop.run_in_executor(self._threads, self._read, question, each, best_place(each, own))
            for each, own in zip(sections[:MOST_READ], shares, strict=False)
        ]
        scores = np.array(await asyncio.gather(*best))
        rest = np.tile(scores.min(axis=0), (len(sections) - len(scores), 1))
        return [
            Reading(section.score + RELEVANCE_WEIGHT * relevance, answered, units)
            for section, (relevance, answered), units in zip(
                sections, np.concatenate((scores, rest)).tolist(), shares, strict=True
            )
        ]

    def _read(self, question: str, section: SectionUnits, place: int) -> tuple[float, float]:
        return self._loaded().read(question, section, place)

    def _loaded(self) -> JointModel:
        with self._loading:
            if self._model is None:
                self._model = JointModel(self._weights)
            return self._model


@asynccontextmanager
async def open_joint_reader() -> AsyncIterator[JointReader]:
    """The reader with its threads, which end with the context."""
    threads = ThreadPoolExecutor(THREADS, "reader")
    try:
        yield JointReader(threads)
    finally:
        await asyncio.to_thread(threads.shutdown, cancel_futures=True)


class JointModel:
    """Everything here blocks and may run in several threads."""

    def __init__(self, weights: Path) -> None:
        from tokenizers import Tokenizer

        base = granite_pack(usual_weights())
        trained = read_pack(weights, sha256=SHA256, package=PACKAGE).tensors
        layers = {name: each for name, each in trained.items() if not name.startswith(HEAD)}
        self._encoder = Encoder({**base.tensors, **layers}, words=words_of(base))
        self._heads = Heads(trained)
        self._tokenizer = Tokenizer.from_buffer(base.tokenizer.tobytes())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        give_back()

    def read(self, question: str, section: SectionUnits, place: int) -> tuple[float, float]:
        """Relevance, and whether the section holds the answer, as log odds. `place` is that of a
        character which is read in any case."""
        asked = self._ids(question)[:MAX_QUESTION]
        headings = self._ids(f"{section.breadcrumb}\n\n")[:MAX_HEADINGS]
        room = MAX_TOKENS - 4 - len(asked) - len(headings)
        ids = [START, *asked, END, END, *headings, *self._part(section.text, place, room), END]
        states = self._encoder.states(ids)
        own = 3 + len(asked)
        relevance, answered = self._heads.scores(
            states[0], states[1 : 1 + len(asked)], states[own:-1]
        ).tolist()
        return relevance, answered

    def _ids(self, text: str) -> Sequence[int]:
        ids: Sequence[int] = self._tokenizer.encode(encodable(text), add_special_tokens=False).ids
        return ids

    def _part(self, text: str, place: int, room: int) -> Sequence[int]:
        """As much of the text as is read at once, a quarter of it before the place."""
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        if len(encoding.ids) <= room:
            ids: Sequence[int] = encoding.ids
            return ids
        at = bisect_left(encoding.offsets, (place, 0)) - room // 4
        first = max(0, min(at, len(encoding.ids) - room))
        part: Sequence[int] = encoding.ids[first : first + room]
        return part


def best_place(section: SectionUnits, shares: Sequence[float]) -> int:
    """Where the unit begins that has most of the question's words."""
    if not shares:
        return 0
    return section.units[max(range(len(shares)), key=shares.__getitem__)].start


class Heads:
    """What is computed from the states of the tokens, a few small layers."""

    def __init__(self, trained: Mapping[str, Tensor]) -> None:
        self._weights = {
            name: np.array(tensor) for name, tensor in trained.items() if name.startswith(HEAD)
        }

    def scores(self, first: Floats, asked: Floats, section: Floats) -> Floats:
        """Relevance, and whether the section holds the answer: as log odds."""
        near = of_length_one(asked) @ of_length_one(section).T
        nearest = near.max(axis=1) if near.size else np.zeros(1, np.float32)
        mean, own = asked.mean(axis=0), section.mean(axis=0)
        nearness = np.array([nearest.mean(), nearest.min(), cosine(mean, own)], dtype=np.float32)
        nearness = (nearness - self._weights["head.mean"]) / self._weights["head.deviation"]
        hidden = gelu(self._linear("joint", np.concatenate((first, mean, own, nearness))))
        scores: Floats = self._linear("scores", hidden) + self._linear("nearness", nearness)
        return scores

    def _linear(self, name: str, given: Floats) -> Floats:
        made: Floats = given @ self._weights[f"head.{name}.w"].T + self._weights[f"head.{name}.b"]
        return made


def of_length_one(rows: Floats) -> Floats:
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return unit


def cosine(one: Floats, other: Floats) -> float:
    return float(of_length_one(one) @ of_length_one(other))


def gelu(x: Floats) -> Floats:
    """Its usual approximation."""
    y = 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
    return y.astype(np.float32)
