"""A tree of HTML elements as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag_core.ingestion.loaders.elements import (
    BLOCKS,
    HEADINGS,
    Element,
    holds_blocks,
    is_silent,
    nearest,
    tag_of,
)
from rag_core.ingestion.loaders.inline import (
    PICTURE,
    heading_parts,
    inline,
    inner_anchor,
    is_usable,
    longest_run,
)

LINE_STARTS = re.compile(
    r"^(\s*)(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|\d{1,9}[.)](?=\s|$)|`{3}|~{3}|[-=]+\s*$|:::)"
)
LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush:|sourceCode)[-\s]+([\w+#.-]+)")
MOST_COLUMNS = 60


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
                line += inline(child, line)
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
        if tag == "p" and (lead := bold_lead(element)):
            return [lead, *self.blocks(element)]
        own = element.get("id")
        if own and tag in {"section", "div", "article", "details"}:
            self._anchor = own
        written = self.blocks(element)
        if own and self._anchor == own:
            self._anchor = ""
        return written

    def _heading(self, element: Element, level: int) -> list[str]:
        anchor = element.get("id") or self._anchor
        title = PICTURE.sub("", "".join(heading_parts(element)))
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


def bold_lead(element: Element) -> str:
    """A paragraph's first line where it is in bold, taken out of it: many editors' heading."""
    first = next(iter(element), None)
    if first is None or tag_of(first) not in {"b", "strong"} or (element.text or "").strip():
        return ""
    following = first.getnext()
    is_line = following is None or tag_of(following) == "br"
    words = " ".join(inline(first).split())
    if not is_line or (first.tail or "").strip() or not words or "*" in words:
        return ""
    element.remove(first)
    return f"**{words}**"


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
