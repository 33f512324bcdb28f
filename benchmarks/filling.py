"""Fills an embedded index with cut pages, and beside it the bare engine with the same points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from benchmarks.pages import SECTIONS, Writer
from rag_core.ingestion.course import course_place
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of
from rag_core.ingestion.documents import DocumentChunk, EmbeddedChunk
from rag_core.ingestion.loaders import load
from rag_core.providers.edge.shard import COARSE
from rag_core.providers.edge.store import EdgeStore
from rag_core.providers.index.bm25 import words_model
from rag_core.providers.index.payload import point_number, searchable_text

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = "measured"
DIMENSION = 384
FILES = 64
"""In one call, as an ingestion does it."""
WORDS = words_model()
Vectors = NDArray[np.float32]


def bare_shard(folder: Path) -> edge.EdgeShard:
    """The engine with what it needs to be asked the same questions as quickly, and nothing else."""
    by_meaning = edge.EdgeVectorParams(
        size=DIMENSION, distance=edge.Distance.Cosine, quantization_config=COARSE
    )
    configuration = edge.EdgeConfig(
        vectors={"dense": by_meaning},
        sparse_vectors={"words": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
    )
    folder.mkdir(parents=True)
    shard = edge.EdgeShard.create(str(folder), configuration)
    by_book = edge.KeywordIndexParams(is_tenant=True)
    shard.update(edge.UpdateOperation.create_field_index("book_id", by_book))
    return shard


class Filling:
    """Pages of books, each chunk with a vector near those of the sentences it is made of."""

    def __init__(self, meanings: Vectors, *, seed: int = 1) -> None:
        self._meanings = meanings
        self._chance = np.random.default_rng(seed)
        self._writer = Writer(seed)

    async def fill(self, store: EdgeStore, *, book: str, chunks: int) -> None:
        for embedded in self.files(book, chunks):
            await store.add(embedded)
            names = {each.chunk.metadata.source_file for each in embedded}
            await store.show_versions(book_id=book, versions=dict.fromkeys(names, 1))

    def fill_bare(self, shard: edge.EdgeShard, *, book: str, chunks: int) -> None:
        for embedded in self.files(book, chunks):
            shard.update(edge.UpdateOperation.upsert_points(list(bare_points(embedded))))
        shard.optimize()

    def files(self, book: str, chunks: int) -> Iterator[list[EmbeddedChunk]]:
        """The chunks of so many files as are added in one call."""
        pages = chunks // SECTIONS
        for start in range(0, pages, FILES):
            names = [f"{number:06}.md" for number in range(start, min(pages, start + FILES))]
            yield [each for name in names for each in self.embedded(book, name)]

    def meaning(self) -> list[float]:
        """The mean of a few sentences' vectors, as that of a passage is near it."""
        chosen = self._chance.integers(len(self._meanings), size=3)
        mean = self._meanings[chosen].mean(axis=0) + self._chance.normal(0, 0.01, DIMENSION)
        unit: list[float] = (mean / np.linalg.norm(mean)).tolist()
        return unit

    def question(self) -> tuple[str, list[float]]:
        return self._writer.question(), self.meaning()

    def embedded(self, book: str, name: str) -> list[EmbeddedChunk]:
        return [
            EmbeddedChunk(
                chunk=chunk, vector=self.meaning(), embedded_at=NOW, embedding_model=MODEL
            )
            for chunk in self.cut(book, name)
        ]

    def cut(self, book: str, name: str) -> Sequence[DocumentChunk]:
        document = load(name, self._writer.page(int(name[:6])).encode())
        edition = Edition(version=1, created_at=NOW, updated_at=NOW)
        place = course_place(name, document.fields)
        return chunks_of(document, place, shelf=Shelf(book_id=book), edition=edition)


def bare_points(chunks: Sequence[EmbeddedChunk]) -> Iterator[edge.Point]:
    """Vector, words and text of each, under one field to search by."""
    for each in chunks:
        yield edge.Point(
            point_number(each.chunk.id, 1),
            {"dense": list(each.vector), "words": WORDS.embed_document(searchable_text(each))},
            {"book_id": each.chunk.metadata.book_id, "text": each.chunk.text},
        )


async def meanings_of(sentences: Sequence[str]) -> Vectors:
    """What the local model makes of sentences: real vectors, a minute for two thousand."""
    from rag_core.providers.embedders.local import open_local_embedder

    async with open_local_embedder() as embedder:
        return np.array(await embedder.embed_documents(sentences), dtype=np.float32)
