"""A PDF, page by page, in the order and words that PDFium finds on it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from pypdfium2 import PdfDocument, PdfiumError

from rag_core.ingestion.loaders.document import Converted, Unreadable
from rag_core.ingestion.loaders.markup import paragraph
from rag_core.ingestion.loaders.pdf_layout import MOST_LEVELS, Part, Titles, largest, parts_of
from rag_core.ingestion.loaders.pdf_lines import Line, lines_of

MOST_PAGES = 5_000
MOST_TITLES = 10_000
PAGE_LEVEL = MOST_LEVELS + 2
"""A page stands below every heading that it is part of."""
NO_TITLE = re.compile(
    r"$|\W*(?:untitled|anonymous|unspecified|document\d*|slide \d+|powerpoint presentation)\W*$"
    r"|microsoft (?:word|powerpoint|excel) - |\S+\.\w{2,5}$",
    re.IGNORECASE,
)
"""What programs write where a title should stand: nothing, their own name, a file's name."""
SENTENCE = re.compile(r"^[^.!?]{1,300}[.!?](?=\s|$)")
OPEN_END = re.compile(r"[\w,]$")


def convert(name: str, content: bytes) -> Converted:
    """The text under the headings that it has and the page's number, which links lead to."""
    try:
        document = PdfDocument(content)
    except PdfiumError as error:
        raise Unreadable(refusal(str(error))) from error
    try:
        if len(document) > MOST_PAGES:
            raise Unreadable(f"it has more than {MOST_PAGES:,} pages")
        pages = [page_lines(document, number) for number in range(len(document))]
        parts = whole_sentences(parts_of(pages, outline_of(document)))
        title = own_title(document) or largest(pages[0] if pages else ())
    finally:
        document.close()
    text = "\n\n".join(written(below_title(parts, title)))
    notices = (
        () if text else ("it has no text, only pictures of pages; nothing can be found in it",)
    )
    return Converted(text=text, fields={"title": title} if title else {}, notices=notices)


def refusal(error: str) -> str:
    if "password" in error.lower():
        return "it is protected with a password"
    return "it is damaged, or not a PDF"


def page_lines(document: PdfDocument, number: int) -> list[Line]:
    page = document[number]
    try:
        return lines_of(page)
    finally:
        page.close()


def own_title(document: PdfDocument) -> str:
    """What the PDF calls itself, unless a program filled that in."""
    title = " ".join((document.get_metadata_dict().get("Title") or "").split())
    return "" if NO_TITLE.match(title) else title


def outline_of(document: PdfDocument) -> Mapping[int, Titles]:
    """The PDF's own table of contents: which headings stand on which page."""
    titles: dict[int, dict[str, int]] = defaultdict(dict)
    for number, mark in enumerate(document.get_toc(max_depth=MOST_LEVELS)):
        if number >= MOST_TITLES:
            break
        place = mark.get_dest()
        page = place.get_index() if place is not None else None
        title = " ".join((mark.get_title() or "").split())
        if page is not None and title:
            titles[page].setdefault(title, mark.level + 1)
    return titles


def below_title(pages: Sequence[Sequence[Part]], title: str) -> list[Sequence[Part]]:
    """The pages without the document's title, which stands before every breadcrumb anyway."""
    first = [part for part in pages[0] if not (part.level and part.text == title)] if pages else []
    return [first, *pages[1:]]


def whole_sentences(pages: Sequence[Sequence[Part]]) -> list[list[Part]]:
    """The pages, with the end of a sentence on the page where it began."""
    found = [list(page) for page in pages]
    for page, after in pairwise(found):
        if not page or not after or page[-1].level or after[0].level or after[0].is_item:
            continue
        end = SENTENCE.match(after[0].text)
        if end and OPEN_END.search(page[-1].text) and after[0].text[0].islower():
            last = page[-1]
            page[-1] = Part(f"{last.text} {end[0]}", is_item=last.is_item)
            rest = after[0].text[end.end() :].strip()
            after[:1] = [Part(rest)] if rest else []
    return found


def written(pages: Sequence[Sequence[Part]]) -> Iterator[str]:
    """Every page that says something, under its headings; each section names its page anew."""
    for number, parts in enumerate(pages, start=1):
        needs_page = True
        for part in parts:
            if part.level:
                yield f"{'#' * (part.level + 1)} {part.text} {{#page={number}}}"
                needs_page = True
                continue
            if needs_page:
                yield f"{'#' * PAGE_LEVEL} page {number} {{#page={number}}}"
                needs_page = False
            if part.is_table:
                yield part.text
            else:
                yield f"- {part.text}" if part.is_item else "\n".join(paragraph(part.text))
