"""A presentation, slide by slide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE

from rag_core.ingestion.loaders.archive import checked_archive
from rag_core.ingestion.loaders.document import Converted
from rag_core.ingestion.loaders.markup import paragraph, table

Shape = Any
"""python-pptx ships no types."""
DEFAULT_TITLES = {"", "powerpoint presentation", "presentation", "slide 1"}
INDENT = "  "
DEEPEST = 20
"""Groups inside groups."""


def convert(name: str, content: bytes) -> Converted:
    """Every slide under its title and number, with its notes."""
    deck = Presentation(BytesIO(checked_archive(content, main="ppt/presentation.xml")))
    slides = [slide for slide in deck.slides if slide.element.get("show") != "0"]
    numbers = {slide.slide_id: number for number, slide in enumerate(deck.slides, start=1)}
    text = "\n\n".join(slide_text(slide, numbers[slide.slide_id]) for slide in slides)
    own = (deck.core_properties.title or "").strip()
    title = own if own.lower() not in DEFAULT_TITLES else first_title(slides)
    return Converted(text=text, fields={"title": title} if title else {})


def first_title(slides: Iterable[Any]) -> str:
    return next((title_of(slide) for slide in slides), "")


def title_of(slide: Any) -> str:
    title = slide.shapes.title
    return " ".join(title.text_frame.text.split()) if title is not None else ""


def slide_text(slide: Any, number: int) -> str:
    """A slide as a section; its number is its anchor."""
    title = title_of(slide)
    head = f"{title}, slide {number}" if title else f"slide {number}"
    own = slide.shapes.title
    shapes = [s for s in slide.shapes if own is None or s.shape_id != own.shape_id]
    blocks = [block for shape in in_order(shapes) for block in shape_blocks(shape, DEEPEST)]
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    spoken = " ".join(notes.text.split()) if notes is not None else ""
    said = [f"Notes: {spoken}"] if spoken else []
    return "\n\n".join([f"## {head} {{#slide={number}}}", *blocks, *said])


def in_order(shapes: Iterable[Shape]) -> list[Shape]:
    """Shapes as they are read: from the top, then from the left."""
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def shape_blocks(shape: Shape, deepest: int) -> Iterator[str]:
    if shape.shape_type == MSO_SHAPE_TYPE.GROUP and deepest:
        for inner in in_order(shape.shapes):
            yield from shape_blocks(inner, deepest - 1)
    elif getattr(shape, "has_table", False):
        rows = [[cell_text(cell) for cell in row.cells] for row in shape.table.rows]
        if any(any(row) for row in rows):
            yield table(rows)
    elif shape.has_text_frame:
        yield from frame_blocks(shape.text_frame)


def frame_blocks(frame: Any) -> Iterator[str]:
    """One paragraph as a paragraph, several as the list that they are on a slide."""
    lines = [(each.level, " ".join(each.text.split())) for each in frame.paragraphs]
    lines = [(level, line) for level, line in lines if line]
    if len(lines) > 1:
        yield "\n".join(f"{INDENT * level}- {line}" for level, line in lines)
    elif lines:
        yield from paragraph(lines[0][1])


def cell_text(cell: Any) -> str:
    return " ".join(cell.text_frame.text.split()).replace("|", "\\|")
