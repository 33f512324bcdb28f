"""A tree of HTML elements as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

HEADINGS = {f"h{level}": level for level in range(1, 7)}
SILENT = {
    "area", "audio", "base", "button", "canvas", "dialog", "embed", "head", "iframe", "img",
    "input", "link", "map", "meta", "noscript", "object", "param", "picture", "script", "select",
    "source", "style", "svg", "template", "textarea", "track", "video", "wbr",
}  # fmt: skip
BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre",
    "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip
PERMALINK = re.compile(
    r"header-?link|hash-?link|perma-?link|heading-?anchor|(?:^|\s)anchor(?:$|\s)"
)
SIGN = re.compile(r"^[#¶§🔗\s\u200b]*$")
LINE_STARTS = re.compile(
    r"^(\s*)(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|\d{1,9}[.)](?=\s|$)|`{3}|~{3}|[-=]+\s*$|:::)"
)
LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush:|sourceCode)[-\s]+([\w+#.-]+)")
MOST_COLUMNS = 60

Element = Any
"""An element of lxml, which ships no types."""


class Writer:
    """Writes one tree; anchors of sections go to the heading that opens them."""

    def __init__(self) -> None:
        self._anchor = ""

    def written(self, root: Element) -> str:
        return "\n\n".join(self.blocks(root))

    def blocks(self, parent: Element) -> list[str]:
        """The element's content as blocks of Markdown, in order."""
        written: list[str] = []
        line = parent.text or ""
        for child in parent:
            if is_silent(child):
                pass
            elif tag_of(child) in BLOCKS or holds_blocks(child):
                written += paragraph(line)
                line = ""
                written += self.block(child)
            else:
                line += inline(child)
            line += child.tail or ""
        return written + paragraph(line)

    def block(self, element: Element) -> list[str]:
        tag = tag_of(element)
        if tag in HEADINGS:
            return self._heading(element, HEADINGS[tag])
        if tag == "pre":
            return code_block(element)
        if tag in {"ul", "ol", "menu", "dir"}:
            return self._list(element, is_numbered=tag == "ol")
        if tag == "dl":
            return self._definitions(element)
        if tag == "table":
            return self._table(element)
        if tag == "blockquote":
            return [prefixed(block, "> ", "> ") for block in self.blocks(element)]
        if tag == "hr":
            return []
        own = element.get("id")
        if own and tag in {"section", "div", "article", "details"}:
            self._anchor = own
        written = self.blocks(element)
        if own and self._anchor == own:
            self._anchor = ""
        return written

    def _heading(self, element: Element, level: int) -> list[str]:
        anchor = element.get("id") or self._anchor
        title = "".join(heading_parts(element))
        self._anchor = ""
        title = " ".join(title.split())
        anchor = anchor or inner_anchor(element)
        if not title:
            return []
        return [f"{'#' * level} {title}" + (f" {{#{anchor}}}" if is_usable(anchor) else "")]

    def _list(self, element: Element, *, is_numbered: bool) -> list[str]:
        items = []
        number = start_of(element)
        for child in element:
            if is_silent(child):
                continue
            mark = f"{number}. " if is_numbered else "- "
            blocks = self.blocks(child) if tag_of(child) == "li" else self.block(child)
            if blocks:
                body = "\n".join(blocks) if are_tight(blocks) else "\n\n".join(blocks)
                items.append(prefixed(body, mark, " " * len(mark)))
                number += 1
        return ["\n".join(items)] if items else []

    def _definitions(self, element: Element) -> list[str]:
        written: list[str] = []
        for child in element.iter("dt", "dd"):
            if nearest(child, "dl") is not element or is_silent(child):
                continue
            blocks = self.blocks(child)
            if tag_of(child) == "dt":
                written += ["\n".join(blocks)] if blocks else []
            elif blocks:
                written += blocks
        return written

    def _table(self, element: Element) -> list[str]:
        rows = [row for row in element.iter("tr") if nearest(row, "table") is element]
        captions = [c for c in element if tag_of(c) == "caption"]
        before = [block for caption in captions for block in self.blocks(caption)]
        if is_layout(element, rows):
            cells = [cell for row in rows for cell in row if tag_of(cell) in {"td", "th"}]
            return before + [block for cell in cells for block in self.blocks(cell)]
        grid = [list(cells_of(row)) for row in rows]
        grid = [row for row in grid if any(row)]
        return before + ([table(grid)] if grid else [])


def tag_of(element: Element) -> str:
    """The name of an element; comments and the like have none."""
    return element.tag.lower() if isinstance(element.tag, str) else ""


def is_silent(element: Element) -> bool:
    """Whether readers of the page do not see this, or it says nothing as text."""
    tag = tag_of(element)
    if not tag or tag in SILENT:
        return tag != "math"
    if element.get("role") == "tabpanel":
        return False  # the other tabs are hidden until somebody asks for them
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = (element.get("style") or "").replace(" ", "").lower()
    return "display:none" in style or "visibility:hidden" in style


def holds_blocks(element: Element) -> bool:
    """Whether an inline element is drawn around blocks, as links around cards are."""
    return any(tag_of(each) in BLOCKS for each in element.iter() if each is not element)


def paragraph(line: str) -> list[str]:
    """A run of text as a paragraph of its own, safe from being taken for something else."""
    lines = (" ".join(part.split()) for part in line.split("\x1f"))
    text = "\n".join(LINE_STARTS.sub(escaped_start, part) for part in lines if part)
    return [text] if text else []


def escaped_start(match: re.Match[str]) -> str:
    start = match[2]
    if start[0].isdigit():
        return f"{match[1]}{start[:-1]}\\{start[-1]}"
    return f"{match[1]}\\{start}"


def inline(element: Element) -> str:
    """What an element says inside a line."""
    tag = tag_of(element)
    if is_silent(element):
        return ""
    if tag == "br":
        return "\x1f"
    if tag in {"code", "kbd", "samp", "tt", "var"}:
        return code(text_of(element))
    if tag == "math" or "katex" in (element.get("class") or ""):
        return formula(element)
    inner = (element.text or "") + "".join(inline(child) + (child.tail or "") for child in element)
    if tag == "a":
        return linked(inner, element.get("href") or "")
    return f"^{inner}" if tag == "sup" and inner.strip().isdigit() else inner


def linked(words: str, address: str) -> str:
    plain = words.strip()
    if not plain or not re.match(r"https?://", address) or plain == address:
        return words
    safe = address.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
    return words.replace(plain, f"[{plain}]({safe})", 1)


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


def text_of(element: Element) -> str:
    return "".join(element.itertext())


def longest_run(text: str, mark: str) -> int:
    return max((len(run) for run in re.findall(f"{re.escape(mark)}+", text)), default=0)


def heading_parts(element: Element) -> Iterator[str]:
    """A heading's words without the sign that links to it."""
    yield element.text or ""
    for child in element:
        if not is_permalink(child):
            yield inline(child)
        yield child.tail or ""


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


def code_block(element: Element) -> list[str]:
    text = "".join(code_lines(element)).strip("\n").rstrip()
    if not text.strip():
        return []
    fence = "`" * max(3, longest_run(text, "`") + 1)
    return [f"{fence}{language_of(element)}\n{text}\n{fence}"]


def code_lines(element: Element) -> Iterator[str]:
    """Code with its line ends, which some pages draw with tags."""
    yield element.text or ""
    for child in element:
        if tag_of(child) == "br":
            yield "\n"
        elif not is_silent(child):
            yield from code_lines(child)
            yield "\n" if tag_of(child) in {"div", "p", "li"} else ""
        yield child.tail or ""


def language_of(element: Element) -> str:
    around = element.getparent()
    outer = around.getparent() if around is not None else None
    for each in (*element.iter("code"), element, around, outer):
        match = LANGUAGE.search((each.get("class") or "") if each is not None else "")
        if match and match[1] not in {"default", "none", "text", "notranslate"}:
            return match[1]
    return ""


def prefixed(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    rest = [(others + line).rstrip() if line or others.strip() else "" for line in lines[1:]]
    return "\n".join([(first + lines[0]).rstrip(), *rest])


def are_tight(blocks: list[str]) -> bool:
    """Whether blocks may follow each other without a blank line: a line and its sub-list."""
    return all(re.match(r"\s*(?:[-*+]|\d+[.)])\s", block) for block in blocks[1:])


def start_of(element: Element) -> int:
    start = element.get("start") or "1"
    return int(start) if re.fullmatch(r"\d{1,8}", start) else 1


def nearest(element: Element, tag: str) -> Element:
    return next(element.iterancestors(tag), None)


def is_layout(element: Element, rows: list[Element]) -> bool:
    """Whether a table only places things: its cells hold more than a table of text can."""
    if element.get("role") in {"presentation", "none"}:
        return True
    heavy = {"table", "pre", "h1", "h2", "h3", "h4", "h5", "h6"}
    return any(tag_of(each) in heavy for row in rows for each in row.iter() if each is not row)


def cells_of(row: Element) -> Iterator[str]:
    """The cells' words, one line each; a wide cell keeps its room."""
    for cell in row:
        if tag_of(cell) not in {"td", "th"}:
            continue
        words = "\n".join(Writer().blocks(cell))
        yield " ".join(re.sub(r"(?<!\\)\|", r"\\|", words).split())
        wide = cell.get("colspan") or "1"
        extra = min(int(wide), MOST_COLUMNS) - 1 if wide.isdigit() else 0
        yield from [""] * extra


def table(grid: Iterable[list[str]]) -> str:
    """Rows as a table of Markdown; the first is the head, as Markdown has it."""
    rows = [row[:MOST_COLUMNS] for row in grid]
    width = max(len(row) for row in rows)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])
