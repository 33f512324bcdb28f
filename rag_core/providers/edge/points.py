"""A passage as the embedded engine keeps it."""

from __future__ import annotations

import qdrant_edge as edge

from rag_core.ingestion.documents import EmbeddedChunk
from rag_core.providers.edge.signals import DENSE, WORDS
from rag_core.providers.index.bm25 import words_model
from rag_core.providers.index.payload import packed_of, point_number, searchable_text

WORDS_MODEL = words_model()


def point_of(embedded: EmbeddedChunk) -> edge.Point:
    vector = embedded.vector
    return edge.Point(
        point_number(embedded.chunk.id, embedded.chunk.metadata.version),
        {
            DENSE: vector if isinstance(vector, list) else list(vector),
            WORDS: WORDS_MODEL.embed_document(searchable_text(embedded)),
        },
        packed_of(embedded),
    )
