"""Tables of a PDF, which are nothing in it but words with wide gaps between them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.ingestion.loaders.markup import table
from rag_core.ingestion.loaders.pdf_lines import Line

FEWEST_ROWS = 2
LONGEST_CELL = 40
"""In the mean: what is longer is text in columns side by side."""
MARK_OF_ITEM = re.compile(r"\W|\(?\w{1,3}[.)]")
"""What stands alone before the words of a list's item, far from them in many a PDF."""


def table_at(lines: Sequence[Line], at: int) -> tuple[str, int]:
    """The table whose first row is this line, and how many rows it has; no table has none."""
    end = at
    while end < len(lines) and is_row(lines[end], lines[at]):
        end += 1
    rows = [[cell.replace("|", "\\|") for cell in line.cells] for line in lines[at:end]]
    letters = [len(cell) for row in rows for cell in row]
    if len(rows) < FEWEST_ROWS or sum(letters) > LONGEST_CELL * len(letters):
        return "", 0
    return table(rows), len(rows)


def is_row(line: Line, first: Line) -> bool:
    """Whether a line has cells, as many as the first row."""
    if len(line.cells) < 2 or len(line.cells) != len(first.cells):
        return False
    return len(line.cells) > 2 or not MARK_OF_ITEM.fullmatch(line.cells[0])
