"""Vectors for chunks: those of words that the book has already are not made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rag_core.books.book import BookIds
from rag_core.ingestion.cutting import embedded_text
from rag_core.ingestion.documents import DocumentChunk, DocumentMetadata, EmbeddedChunk
from rag_core.ports import Embedder, Vector, VectorStore
from rag_core.retrieval.results import SearchResult

COPIES = 4
"""Of one text, that are looked through for one under the same headings."""

TextKey = tuple[str, str]
"""A text by its hash, and the headings above it: together they are what is embedded."""


def text_key(chunk: DocumentMetadata | SearchResult) -> TextKey:
    return chunk.content_hash, chunk.breadcrumb


@dataclass(frozen=True, slots=True)
class Embedded:
    """Chunks with their vectors, and how many of these had to be made."""

    chunks: list[EmbeddedChunk]
    embedded: int


class Vectors:
    """The vectors of one book. The index itself is their cache: whichever file a text stood in
    before, in whatever mode it is read now, its vector is there; and it is forgotten with the last
    chunk that has it. An index holds the vectors of one model only."""

    def __init__(
        self,
        *,
        book_id: str,
        store: VectorStore,
        embedder: Embedder,
        clock: Callable[[], datetime],
    ) -> None:
        self._books = BookIds([book_id])
        self._store = store
        self._embedder = embedder
        self._clock = clock

    async def of(self, chunks: Sequence[DocumentChunk], *, embeds_all: bool) -> Embedded:
        """The chunks with their vectors. `embeds_all` where the book has none to look for, or
        those that it has are not to be used."""
        keys = [text_key(chunk.metadata) for chunk in chunks]
        vectors = {} if embeds_all else await self._known(chunks)
        new = {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in vectors}
        made = await self._embedder.embed_documents([*map(embedded_text, new.values())])
        vectors |= dict(zip(new, made, strict=True))
        now, model = self._clock(), self._embedder.model
        return Embedded(
            [
                EmbeddedChunk(
                    chunk=chunk, vector=vectors[key], embedded_at=now, embedding_model=model
                )
                for key, chunk in zip(keys, chunks, strict=True)
            ],
            len(new),
        )

    async def _known(self, chunks: Sequence[DocumentChunk]) -> dict[TextKey, Vector]:
        found = await self._store.texts(
            {chunk.metadata.content_hash for chunk in chunks},
            books=self._books,
            limit=COPIES * len(chunks),
        )
        return {
            text_key(result): result.vector
            for result in found
            if result.vector and result.metadata.get("embedding_model") == self._embedder.model
        }
