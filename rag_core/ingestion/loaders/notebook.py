"""A notebook: its text and its code, and of what the code printed only the short."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Converted, Unreadable
from rag_core.ingestion.loaders.inline import longest_run
from rag_core.ingestion.loaders.markdown import readable

SHORT_LINES = 6
SHORT = 400
"""Lines and characters of an output that is kept: longer ones are data."""


def convert(name: str, content: bytes) -> Converted:
    """The cells in order, code in fences with its language."""
    text, notice = decoded(content)
    try:
        notebook = json.loads(text)
    except ValueError as error:
        raise Unreadable("it is damaged, or not a notebook") from error
    cells = cells_of(notebook)
    if cells is None:
        raise Unreadable("it is not a notebook: it has no cells")
    language = language_of(notebook)
    blocks = [block for cell in cells for block in cell_blocks(cell, language)]
    return Converted(
        text="\n\n".join(blocks),
        fields=title_in(notebook),
        notices=(notice,) if notice else (),
    )


def cells_of(notebook: object) -> list[dict[str, Any]] | None:
    """The cells, also of notebooks from before format 4."""
    if not isinstance(notebook, dict):
        return None
    found = notebook.get("cells")
    if found is None and isinstance(sheets := notebook.get("worksheets"), list):
        found = [cell for sheet in sheets if isinstance(sheet, dict) for cell in listed(sheet)]
    if not isinstance(found, list):
        return None
    return [cell for cell in found if isinstance(cell, dict)]


def listed(sheet: dict[str, Any]) -> list[Any]:
    cells = sheet.get("cells")
    return cells if isinstance(cells, list) else []


def language_of(notebook: dict[str, Any]) -> str:
    about = notebook.get("metadata")
    about = about if isinstance(about, dict) else {}
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        part = about.get(name)
        if isinstance(part, dict) and isinstance(part.get(key), str):
            return str(part[key]).strip().split(" ")[0]
    return "python"


def title_in(notebook: dict[str, Any]) -> dict[str, str]:
    about = notebook.get("metadata")
    title = about.get("title") if isinstance(about, dict) else None
    return {"title": title} if isinstance(title, str) and title.strip() else {}


def cell_blocks(cell: dict[str, Any], language: str) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = joined(cell.get("source", cell.get("input"))).strip("\n")
    if not source.strip():
        return
    if kind == "markdown":
        yield readable(source)
    elif kind == "heading":  # of format 3
        level = cell.get("level")
        yield f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"
    elif kind == "code":
        yield fenced(source, language)
        yield from (fenced(output, "text") for output in short_outputs(cell.get("outputs")))


def short_outputs(outputs: object) -> Iterator[str]:
    """What a cell printed or returned as text, where it is short."""
    for output in outputs if isinstance(outputs, list) else []:
        if not isinstance(output, dict) or output.get("output_type") in {"error", "pyerr"}:
            continue
        data = output.get("data")
        text = data.get("text/plain") if isinstance(data, dict) else output.get("text")
        printed = joined(text).strip("\n").rstrip()
        if printed and len(printed) <= SHORT and printed.count("\n") < SHORT_LINES:
            yield printed


def joined(text: object) -> str:
    """A text as notebooks keep it: whole, or line by line."""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return "".join(line for line in text if isinstance(line, str))
    return ""


def fenced(text: str, language: str) -> str:
    fence = "`" * max(3, longest_run(text, "`") + 1)
    return f"{fence}{language}\n{text}\n{fence}"
