"""A web page: its own text, without what the site draws around it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from lxml import etree
from lxml.html import HTMLParser, document_fromstring

from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Converted, Unreadable
from rag_core.ingestion.loaders.elements import (
    BLOCKS,
    HEADINGS,
    Element,
    is_silent,
    tag_of,
    text_of,
)
from rag_core.ingestion.loaders.markup import Writer

CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
HEAD = 4096
MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
READ_AS = {"iso8859-1": "cp1252", "ascii": "cp1252"}
"""What browsers make of these names."""
FURNITURE_TAGS = {"nav", "footer"}
FURNITURE_ROLES = {"navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog"}
FURNITURE = re.compile(
    r"(?:^|[\s_-])(?:breadcrumbs?|sidebar\w*|toc\w*|tableofcontents|table-of-contents|pagination"
    r"|pager|prev-next|prevnext|edit-(?:this-)?page|edit-link|skip-?(?:link|to-content)|cookie\w*"
    r"|share|sharing|social|newsletter|subscribe|comments|disqus|advert\w*|ads|related|linenos?"
    r"|gutter|headerlink|hash-link|sr-only|visually-hidden|screen-reader-text|copy-?(?:button|btn)"
    r"|clipboard|toolbar|theme-doc-footer\w*|last-updated|page-metadata|feedback|navbar|menu"
    r"|editsection|byline|(?:post|entry|article)-meta|author-(?:bio|box|card|info))"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
"""What names of classes and ids say of parts that stand on every page, or say nothing as text."""
MAIN = (
    "//main",
    "//*[@role='main']",
    "//*[contains(concat(' ', normalize-space(@class), ' '), ' markdown-body ')]",
    "//article",
    "//*[@id='content' or @id='main' or @id='main-content' or @id='bodyContent']",
    "//*[contains(concat(' ', normalize-space(@class), ' '), ' document ')]",
)
MOST_OF_IT = 0.5
"""A part is the main one where it has this share of the text around it."""
WORDS = {"body", "html", "p", "pre", "blockquote", "code", "table", *HEADINGS}
"""What holds words under whatever name."""
PROSE = {"p", "pre", "li", "td", "th", "dd", "dt", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}


def convert(name: str, content: bytes) -> Converted:
    """The page's main text with its headings under their real ids, its title and its address."""
    text, notice = as_text(content)
    notices = (notice,) if notice else ()
    if not text.strip():
        return Converted(text="", notices=notices)
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:  # nothing but comments and white space
        return Converted(text="", notices=notices)
    except etree.XMLSyntaxError as error:
        if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise
    fields = fields_in(root)
    main = main_part(root)
    without_furniture(main)
    written = Writer().written(main)
    if not written and parser.error_log.filter_from_fatals():
        raise Unreadable("it is nested too deeply, or damaged from its start")
    if re.search(r"(?m)^# \S", written):
        fields.pop("title", None)
    return Converted(text=written, fields=fields, notices=notices)


def as_text(content: bytes) -> tuple[str, str | None]:
    """The page decoded as it says itself, or else as any text is."""
    named = CHARSET.search(content[:HEAD])
    if named is None or content.startswith(MARKS):
        return decoded(content)
    try:
        codec = codecs.lookup(named[1].decode("ascii")).name
    except (LookupError, UnicodeDecodeError):
        return decoded(content)
    if codec.startswith("utf"):
        return decoded(content)
    return content.decode(READ_AS.get(codec, codec), errors="replace"), None


def fields_in(root: Element) -> dict[str, str]:
    """What the head says: the title without the site's name, and the page's one true address."""
    fields: dict[str, str] = {}
    title = " ".join((root.findtext(".//title") or "").split())
    if title:
        fields["title"] = re.split(r"\s+[|·•—–]\s+|\s+-\s+", title)[0]
    for link in root.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            fields["url"] = (link.get("href") or "").strip()
    return fields


def main_part(root: Element) -> Element:
    """The element that holds the page's own text."""
    body = root.find("body")
    body = root if body is None else body
    whole = prose_length(body)
    for path in MAIN:
        found = max(root.xpath(path), key=prose_length, default=None)
        if found is not None and prose_length(found) >= min(whole * MOST_OF_IT, 200):
            return found
    return densest(body, whole)


def densest(element: Element, whole: int) -> Element:
    """Down from the body, always into the part that has most of the prose."""
    while True:
        parts = [part for part in element if tag_of(part) in BLOCKS and not is_furniture(part)]
        best = max(parts, key=prose_length, default=None)
        if best is None or tag_of(best) in PROSE or prose_length(best) < whole * 0.8:
            return element
        element = best


def prose_length(element: Element) -> int:
    """How much text there is outside of links and furniture."""
    return sum(len(piece) for piece in prose_in(element))


def prose_in(element: Element) -> Iterator[str]:
    stack = [element]
    while stack:
        each = stack.pop()
        if tag_of(each) == "a" or is_silent(each) or is_furniture(each):
            continue
        yield (each.text or "").strip()
        for child in each:
            yield (child.tail or "").strip()
            stack.append(child)


def is_furniture(element: Element) -> bool:
    """Whether a part belongs to the site and not to the page."""
    tag = tag_of(element)
    if tag in FURNITURE_TAGS or (element.get("role") or "").lower() in FURNITURE_ROLES:
        return True
    named = f"{element.get('class') or ''} {element.get('id') or ''}"
    if tag == "aside":
        return bool(FURNITURE.search(named)) or is_of_links(element)
    if tag in WORDS or not FURNITURE.search(named):
        return False
    if tag == "a":  # the sign at a heading is read for where it leads
        return tag_of(element.getparent()) not in HEADINGS
    return next(element.iter("h1", "main", "article"), None) is None


def is_of_links(element: Element) -> bool:
    linked = sum(len(text_of(link).strip()) for link in element.iter("a"))
    return linked * 2 > len(text_of(element).strip())


def without_furniture(root: Element) -> None:
    """Takes away what belongs to the site; text that follows such a part stays."""
    for element in [each for each in root.iter() if each is not root and is_furniture(each)]:
        if element.getparent() is not None:
            element.drop_tree()
