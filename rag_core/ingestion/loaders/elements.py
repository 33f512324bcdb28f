"""What the elements of a page are, whatever holds them."""

from __future__ import annotations

from typing import Any

HEADINGS = {f"h{level}": level for level in range(1, 7)}
SILENT = {
    "area", "audio", "base", "button", "canvas", "dialog", "embed", "head", "iframe",
    "input", "link", "map", "meta", "noscript", "object", "param", "script", "select",
    "style", "svg", "template", "textarea", "track", "video", "wbr",
}  # fmt: skip
BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre",
    "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip
Element = Any
"""An element of lxml, which ships no types."""


def tag_of(element: Element) -> str:
    """The name of an element; comments and the like have none."""
    return element.tag.lower() if isinstance(element.tag, str) else ""


def is_silent(element: Element) -> bool:
    """Whether readers of the page do not see this, or it says nothing as text."""
    tag = tag_of(element)
    if not tag or tag in SILENT:
        return True
    if element.get("role") == "tabpanel":
        return False  # the other tabs are hidden until somebody asks for them
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = (element.get("style") or "").replace(" ", "").lower()
    return "display:none" in style or "visibility:hidden" in style


def holds_blocks(element: Element) -> bool:
    """Whether an inline element is drawn around blocks, as links around cards are."""
    return any(tag_of(each) in BLOCKS for each in element.iter() if each is not element)


def text_of(element: Element) -> str:
    return "".join(element.itertext())


def nearest(element: Element, tag: str) -> Element:
    return next(element.iterancestors(tag), None)
