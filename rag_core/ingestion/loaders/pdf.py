"""A PDF, page by page, in the order and words that PDFium finds on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypdfium2 import PdfDocument, PdfiumError

from rag_core.ingestion.loaders.document import Converted, Unreadable
from rag_core.ingestion.loaders.markup import paragraph

MOST_PAGES = 5_000
NO_TITLE = re.compile(
    r"$|\W*(?:untitled|anonymous|unspecified|document\d*|slide \d+|powerpoint presentation)\W*$"
    r"|microsoft (?:word|powerpoint|excel) - |\S+\.\w{2,5}$",
    re.IGNORECASE,
)
"""What programs write where a title should stand: nothing, their own name, a file's name."""
BROKEN_WORD = "\ufffe"
"""How PDFium marks a hyphen that only broke a word at the end of a line."""


def convert(name: str, content: bytes) -> Converted:
    """The text of each page under the page's number, which links lead to."""
    try:
        document = PdfDocument(content)
    except PdfiumError as error:
        raise Unreadable(refusal(str(error))) from error
    try:
        if len(document) > MOST_PAGES:
            raise Unreadable(f"it has more than {MOST_PAGES:,} pages")
        title = own_title(document)
        text = "\n\n".join(sections(document))
    finally:
        document.close()
    notices = (
        () if text else ("it has no text, only pictures of pages; nothing can be found in it",)
    )
    return Converted(text=text, fields={"title": title} if title else {}, notices=notices)


def refusal(error: str) -> str:
    if "password" in error.lower():
        return "it is protected with a password"
    return "it is damaged, or not a PDF"


def own_title(document: PdfDocument) -> str:
    """What the PDF calls itself, unless a program filled that in."""
    title = " ".join((document.get_metadata_dict().get("Title") or "").split())
    return "" if NO_TITLE.match(title) else title


def sections(document: PdfDocument) -> Iterator[str]:
    """Every page that says something, as a section."""
    for number in range(len(document)):
        page = document[number]
        words = page.get_textpage()
        text = words.get_text_range().replace(BROKEN_WORD, "")
        words.close()
        page.close()
        blocks = [block for line in text.splitlines() for block in paragraph(line)]
        if blocks:
            yield f"## page {number + 1} {{#page={number + 1}}}\n\n" + "\n".join(blocks)
