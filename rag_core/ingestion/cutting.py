"""One loaded file as numbered, linked, named chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypedDict

from rag_core.ingestion.chunking import TOKENS_PER_WORD, Passage, cut, cut_plain
from rag_core.ingestion.course import CoursePlace
from rag_core.ingestion.documents import DocumentChunk, DocumentMetadata
from rag_core.ingestion.headings import Heading, Site
from rag_core.ingestion.identity import chunk_ids, content_hash, parent_id, place_of
from rag_core.ingestion.links import USUAL, page_url, with_anchor
from rag_core.ingestion.loaders import LoadedDocument, title_of
from rag_core.ingestion.site import Habits
from rag_core.retrieval.passage_kinds import kind_of

CRUMB = " › "


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What all chunks of one run share: their book and how its pages are addressed."""

    book_id: str
    base_url: str = ""
    site: Site = Site.PLAIN
    addresses: Mapping[Path, str] = field(default_factory=dict)
    """Where files that were fetched from the web have their pages."""
    habits: Habits = USUAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """One version of one file."""

    version: int
    created_at: datetime
    updated_at: datetime
    owns_lesson: bool = True
    """Whether the lesson that the file claims is its own; another file may come first."""


class PlaceOnPage(TypedDict):
    """The metadata that says where on its page a chunk stands."""

    page_title: str
    section_heading: str
    breadcrumb: str
    page_url: str | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A file as readers know it: its title, its address and the heading that is the title."""

    title: str
    address: str | None
    top: Heading | None

    def below_top(self, path: tuple[Heading, ...]) -> tuple[Heading, ...]:
        """The headings below the page's own title, which leads to the top of the page."""
        return path[1:] if path and path[0] == self.top else path


def chunks_of(
    document: LoadedDocument, course: CoursePlace, *, shelf: Shelf, edition: Edition
) -> tuple[DocumentChunk, ...]:
    """The chunks of a file, in order, each knowing its neighbours."""
    passages = (
        cut(document.text, site=shelf.site) if document.is_markdown else cut_plain(document.text)
    )
    page = page_of(document, passages, shelf)
    place = place_of(
        shelf.book_id,
        source_file=document.source_file,
        claim=course.claim if edition.owns_lesson else None,
    )
    hashes = [content_hash(passage.text) for passage in passages]
    ids = [None, *chunk_ids(place, hashes), None]
    lesson, fields = parent_id(place), course.fields()
    return tuple(
        made(
            ids[number + 1] or "",
            passage,
            DocumentMetadata(
                book_id=shelf.book_id,
                source_file=document.source_file,
                parent_doc_id=lesson,
                chunk_index=number,
                total_chunks=len(passages),
                content_hash=hashes[number],
                source_file_hash=document.file_hash,
                version=edition.version,
                created_at=edition.created_at,
                updated_at=edition.updated_at,
                prev_chunk_id=ids[number],
                next_chunk_id=ids[number + 2],
                **place_on(page, passage),
                **fields,
            ),
        )
        for number, passage in enumerate(passages)
    )


def page_of(document: LoadedDocument, passages: list[Passage], shelf: Shelf) -> Page:
    tops = list(dict.fromkeys(p.path[0] for p in passages if p.path and p.path[0].level == 1))
    return Page(
        title=title_of(document.source_file, document.fields, tops[0].title if tops else None),
        address=page_url(
            document.source_file,
            document.fields,
            base_url=shelf.base_url,
            site=shelf.site,
            habits=shelf.habits,
        ),
        top=tops[0] if len(tops) == 1 else None,
    )


def place_on(page: Page, passage: Passage) -> PlaceOnPage:
    below = page.below_top(passage.path)
    return {
        "page_title": page.title,
        "section_heading": section_of(below),
        "breadcrumb": CRUMB.join([page.title, *(heading.title for heading in below)]),
        "page_url": with_anchor(page.address, below[-1].anchor if below else ""),
        "kind": kind_of(page.title, [heading.title for heading in below], passage.text),
    }


def section_of(below: tuple[Heading, ...]) -> str:
    """The last heading; a page of a PDF says which heading it is part of."""
    match below:
        case (*_, above, Heading(title=title, anchor=anchor)) if is_page(title, anchor):
            return f"{above.title}, {title}"
        case (*_, last):
            return last.title
        case _:
            return ""


def is_page(title: str, anchor: str) -> bool:
    """Whether a heading is the number of a page, as the loader of PDFs writes it."""
    name, _, number = anchor.partition("=")
    return name == "page" and title == f"page {number}"


def made(chunk_id: str, passage: Passage, metadata: DocumentMetadata) -> DocumentChunk:
    return DocumentChunk(
        id=chunk_id,
        text=passage.text,
        metadata=metadata,
        word_count=passage.words,
        token_count=round(passage.words * TOKENS_PER_WORD),
        char_count=len(passage.text),
    )


def embedded_text(chunk: DocumentChunk) -> str:
    """What is looked up by: the breadcrumb before the text, which itself is quoted without it."""
    return f"{chunk.metadata.breadcrumb}\n\n{chunk.text}"
