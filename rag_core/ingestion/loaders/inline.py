"""What stands inside a line of a page, and the anchors of headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.ingestion.loaders.elements import Element, is_silent, tag_of, text_of
from rag_core.ingestion.loaders.scripts import subscript, superscript

PERMALINK = re.compile(
    r"header-?link|hash-?link|perma-?link|heading-?anchor|(?:^|\s)anchor(?:$|\s)"
)
PICTURE = re.compile(r"!\[[^\[\]]*\]\([^()\s]*\)")
WITHOUT_BRACKETS = str.maketrans("[]", "  ")
NEAR = 40
"""Characters before an element by which it is told what it means."""
SCRIPTS = {"sub": subscript, "sup": superscript}
SIGN = re.compile(r"^[#¶§🔗\s\u200b]*$")


def inline(element: Element, before: str = "") -> str:
    """What an element says inside a line, behind what the line has already."""
    tag = tag_of(element)
    if is_silent(element):
        return ""
    if tag == "br":
        return "\x1f"
    if tag == "img":
        return picture(element.get("alt") or "", element.get("src") or "")
    if tag in {"code", "kbd", "samp", "tt", "var"}:
        return code(text_of(element))
    if tag == "math" or "katex" in (element.get("class") or ""):
        return formula(element)
    inner = element.text or ""
    for child in element:
        inner += inline(child, before[-NEAR:] + inner[-NEAR:]) + (child.tail or "")
    if tag == "a":
        return linked(inner, element.get("href") or "")
    if tag in SCRIPTS:
        return SCRIPTS[tag](before, inner, element.tail or "")
    return inner


def linked(words: str, address: str) -> str:
    plain = words.strip()
    if not plain or not re.match(r"https?://", address) or plain == address:
        return words
    return words.replace(plain, f"[{plain}]({escaped(address)})", 1)


def picture(words: str, address: str) -> str:
    """A picture as Markdown has it; nothing where no words stand for it."""
    plain = " ".join(words.translate(WITHOUT_BRACKETS).split())
    if not plain or not address or address.startswith("data:"):
        return plain
    return f"![{plain}]({escaped(address)})"


def escaped(address: str) -> str:
    return address.strip().replace("(", "%28").replace(")", "%29").replace(" ", "%20")


def code(text: str) -> str:
    words = " ".join(text.split())
    if not words:
        return ""
    ticks = "`" * (longest_run(words, "`") + 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{space}{words}{space}{ticks}"


def formula(element: Element) -> str:
    for source in element.iter("annotation"):
        if "tex" in (source.get("encoding") or ""):
            return f"${' '.join(text_of(source).split())}$"
    return element.get("alttext") or " ".join(text_of(element).split())


def longest_run(text: str, mark: str) -> int:
    return max((len(run) for run in re.findall(f"{re.escape(mark)}+", text)), default=0)


def heading_parts(element: Element) -> Iterator[str]:
    """A heading's words without the sign that links to it."""
    words = element.text or ""
    yield words
    for child in element:
        if not is_permalink(child) and not is_note(child, words):
            yield inline(child, words)
        words = child.tail or ""
        yield words


def is_note(element: Element, before: str) -> bool:
    """Whether an element of a heading is the number of a note, which is no part of the title."""
    return tag_of(element) == "sup" and inline(element, before).startswith((" (", "("))


def is_permalink(element: Element) -> bool:
    if tag_of(element) != "a":
        return False
    href = element.get("href") or ""
    is_named = bool(PERMALINK.search((element.get("class") or "").lower()))
    words = text_of(element)
    return bool(SIGN.match(words)) or (is_named and href.startswith("#") and len(words.strip()) < 3)


def inner_anchor(element: Element) -> str:
    """The name that a heading has from a mark inside it or its own permalink."""
    for child in element.iter():
        if child is element:
            continue
        own = child.get("id") or (child.get("name") if tag_of(child) == "a" else None)
        if own:
            return str(own)
        if is_permalink(child) and (child.get("href") or "").startswith("#"):
            return str(child.get("href")[1:])
    return ""


def is_usable(anchor: str) -> bool:
    return bool(anchor) and not re.search(r"[\s{}]", anchor)
