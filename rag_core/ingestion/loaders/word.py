"""A Word document: mammoth makes HTML of it, which is written as Markdown."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import mammoth
from lxml import html

from rag_core.ingestion.loaders.archive import checked_archive
from rag_core.ingestion.loaders.document import Converted
from rag_core.ingestion.loaders.elements import HEADINGS
from rag_core.ingestion.loaders.markup import Writer

STYLES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
"""


def convert(name: str, content: bytes) -> Converted:
    """The document's text with its headings, lists and tables. Pages are made by who prints it:
    a Word document has none of its own."""
    made = mammoth.convert_to_html(
        BytesIO(checked_archive(content, main="word/document.xml")),
        style_map=STYLES,
        convert_image=without_picture,
        external_file_access=False,
    )
    if not made.value.strip():
        return Converted(text="")
    tree = html.fragment_fromstring(made.value, create_parent="body")
    title = below_title(tree)
    return Converted(text=Writer().written(tree), fields={"title": title} if title else {})


def without_picture(image: Any) -> list[Any]:
    return []


def below_title(tree: Any) -> str:
    """The document's own title, and its headings put one level below it."""
    titles = [head for head in tree.iter("h1") if head.get("class") == "title"]
    if not titles:
        return ""
    for head in [each for each in tree.iter(*HEADINGS) if each not in titles]:
        head.tag = f"h{min(HEADINGS[head.tag] + 1, 6)}"
    return " ".join(titles[0].text_content().split())
