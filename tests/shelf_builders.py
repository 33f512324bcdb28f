"""Chunks and files with defaults, for the tests of ingestion and search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_core.ingestion.course import CoursePlace
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of, embedded_text
from rag_core.ingestion.documents import EmbeddedChunk
from rag_core.ingestion.loaders import LoadedDocument, file_hash
from tests.fakes.embedder import WordEmbedder

MORNING = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


def file_chunks(
    paragraphs: Sequence[str],
    *,
    book: str = "course",
    file: str = "page.md",
    version: int = 1,
    embedder: WordEmbedder | None = None,
    **course: Any,
) -> list[EmbeddedChunk]:
    """A file with one section, and so one chunk, for each paragraph."""
    text = "\n\n".join(f"## Part {n}\n\n{words}" for n, words in enumerate(paragraphs))
    return page_chunks(
        text, book=book, file=file, version=version, embedder=embedder, base_url="", **course
    )


def page_chunks(
    text: str,
    *,
    book: str = "course",
    file: str = "page.md",
    version: int = 1,
    embedder: WordEmbedder | None = None,
    base_url: str = "https://docs.example.com",
    **course: Any,
) -> list[EmbeddedChunk]:
    """The chunks of a Markdown page."""
    document = LoadedDocument(
        source_file=file, file_hash=file_hash(text.encode()), text=text, is_markdown=True
    )
    edition = Edition(version=version, created_at=MORNING, updated_at=MORNING)
    place = CoursePlace(**course)
    shelf = Shelf(book_id=book, base_url=base_url)
    chunks = chunks_of(document, place, shelf=shelf, edition=edition)
    model = embedder or WordEmbedder()
    return [
        EmbeddedChunk(
            chunk=chunk,
            vector=model.vector(embedded_text(chunk)),
            embedded_at=MORNING,
            embedding_model=model.model,
        )
        for chunk in chunks
    ]


def write_files(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def long_text(subject: str, *, words: int = 90) -> str:
    """A paragraph long enough to be a section of its own."""
    sentence = f"The {subject} is described here in one more plain sentence. "
    return (sentence * (words // 10)).strip()
