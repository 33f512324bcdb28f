"""A lesson as a page to read, with the quoted words marked."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.web.pages.links import anchor
from adapters.web.pages.markdown import leads_out, parsed, rendered
from adapters.web.pages.marking import marked
from adapters.web.pages.templates import NOTHING, Html, fill, joined, page
from rag_core.retrieval.results import SearchResult


def lesson_html(chunks: Sequence[SearchResult], *, passage: str, quote: str) -> Html:
    """All passages of a lesson, in order; the one that was quoted is shown as such."""
    first = chunks[0]
    title = first.page_title or first.source_file
    return page(
        "lesson",
        title=f"{title} · Footnote",
        heading=title,
        origin=" · ".join(
            part for part in (first.book_id, first.module, first.source_file) if part
        ),
        original=original_html(first.page_url),
        passages=joined([passage_html(chunk, chunks, passage, quote) for chunk in chunks]),
    )


def passage_html(
    chunk: SearchResult, chunks: Sequence[SearchResult], quoted: str, quote: str
) -> Html:
    is_quoted = chunk.chunk_id == quoted
    return fill(
        "passage",
        anchor=anchor(chunk.chunk_id),
        kind="quoted" if is_quoted else "plain",
        heading=heading_html(chunk, chunks),
        text=marked(chunk.text, quote, headings_below=0)
        if is_quoted
        else rendered(parsed(chunk.text, headings_below=0)),
    )


def heading_html(chunk: SearchResult, chunks: Sequence[SearchResult]) -> Html:
    """A section's heading stands once, where the section begins."""
    before = chunks[chunk.chunk_index - 1] if 0 < chunk.chunk_index < len(chunks) else None
    same = before is not None and before.section_heading == chunk.section_heading
    heading = chunk.section_heading
    if same or not heading or heading == chunk.page_title or is_written(heading, chunk.text):
        return NOTHING
    return fill("heading", heading=heading)


def is_written(heading: str, text: str) -> bool:
    """Whether the passage has this heading in its own words."""
    return any(line.startswith("#") and line.strip("# \t") == heading for line in text.splitlines())


def original_html(page_url: str | None) -> Html:
    if not page_url or not leads_out(page_url):
        return NOTHING
    return fill("original", address=page_url.partition("#")[0])
