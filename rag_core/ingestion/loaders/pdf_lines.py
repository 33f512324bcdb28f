"""The lines of a PDF's page, with their size and place."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

BROKEN_WORD = {2, 0xFFFE}
"""How PDFium marks a hyphen that only broke a word at the end of a line."""
LINE_ENDS = {10, 13}
SPACE = 32
LOOSE = 0.55
"""So much of its height a letter takes in lines that are worth a closer look for gaps."""
SEEN = range(1, 0x10000)


@dataclass(frozen=True, slots=True)
class Line:
    """Words side by side; `bottom` grows upwards, as PDFs count."""

    text: str
    size: float
    left: float
    right: float
    bottom: float
    top: float
    cells: tuple[str, ...] = ()
    """The words between wide gaps, where there are any, as the rows of a table have them."""


def lines_of(page: PdfPage) -> list[Line]:
    """All lines of a page that say something, in the order in which the PDF has them."""
    words = page.get_textpage()
    try:
        return list(found_lines(words))
    finally:
        words.close()


def found_lines(words: PdfTextPage) -> Iterator[Line]:
    line: list[tuple[int, int]] = []
    for index in range(words.count_chars()):
        code = pdfium.FPDFText_GetUnicode(words, index)
        if code not in LINE_ENDS:
            line.append((index, code))
        elif line:
            yield from made(words, line)
            line = []
    if line:
        yield from made(words, line)


def made(words: PdfTextPage, line: list[tuple[int, int]]) -> Iterator[Line]:
    text = text_of(code for _, code in line if code not in BROKEN_WORD)
    drawn = [index for index, code in line if code > SPACE]
    if not text or not drawn:
        return
    boxes = [box_of(words, index) for index in {drawn[0], drawn[len(drawn) // 2], drawn[-1]}]
    size = round(pdfium.FPDFText_GetFontSize(words, drawn[len(drawn) // 2]), 1)
    left, right = min(box[0] for box in boxes), max(box[1] for box in boxes)
    bottom, top = min(box[2] for box in boxes), max(box[3] for box in boxes)
    high = max(size, top - bottom)
    yield Line(
        text=text,
        size=size,
        left=left,
        right=right,
        bottom=bottom,
        top=top,
        cells=cells_of(words, line, high) if right - left > len(text) * high * LOOSE else (),
    )


def cells_of(words: PdfTextPage, line: list[tuple[int, int]], high: float) -> tuple[str, ...]:
    """What stands between gaps as wide as a letter is high; nothing where there is no such gap."""
    cells: list[list[int]] = [[]]
    before: int | None = None
    has_gap = False
    for index, code in line:
        if code in BROKEN_WORD:
            continue
        if code > SPACE:
            wide = has_gap and before is not None and gap(words, before, index) >= high
            if wide:
                cells.append([])
            before, has_gap = index, False
        else:
            has_gap = True
        cells[-1].append(code)
    found = tuple(text_of(iter(cell)) for cell in cells)
    return found if len(found) > 1 and all(found) else ()


def gap(words: PdfTextPage, before: int, after: int) -> float:
    return box_of(words, after)[0] - box_of(words, before)[1]


def text_of(codes: Iterator[int]) -> str:
    """Characters from the units of UTF-16 that PDFium counts in; a half of one is no character."""
    units = b"".join(code.to_bytes(2, "little") for code in codes if code in SEEN)
    text = units.decode("utf-16-le", errors="replace")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def box_of(words: PdfTextPage, index: int) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of a character."""
    sides = [ctypes.c_double() for _ in range(4)]
    pdfium.FPDFText_GetCharBox(words, index, *sides)
    left, right, bottom, top = (side.value for side in sides)
    return left, right, bottom, top
