"""Markdown files that other pages import as components, which are no pages of their own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from rag_core.ingestion.headings import Site
from rag_core.ingestion.site import rules_of
from rag_core.ingestion.site_files import SiteFiles

ENDING = r"\.(?:md|mdx|markdown)"
HINT = re.compile(rf"\bimport\s[^;]{{1,300}}?{ENDING}['\"]".encode())
IMPORT = re.compile(
    rf"^import[ \t]+(?P<name>[A-Z]\w*)[ \t]*(?:,[^'\"\n;]*?)?[ \t]from[ \t]*"
    rf"(?P<quote>['\"])(?P<path>[^'\"\n]{{1,300}}{ENDING})(?P=quote)",
    re.MULTILINE,
)
"""`import Rules, { toc } from './_rules.mdx'`"""
ESCAPED = re.compile(r"\\(.)")
PROPERTY = re.compile(r"\{\s*props\.(\w+)\s*\}")
GIVEN = re.compile(r"(\w+)\s*=\s*(?:\{\s*)?(['\"`])([^'\"`{}]*)\2")
ENDINGS = {".md", ".mdx", ".markdown"}
MOST_BYTES = 1024 * 1024
"""Of a page in which imports are looked for."""


def imported_partials(prose: str) -> dict[str, str]:
    """The paths of the Markdown files that a text imports, by the name of their component; a
    backslash in a path is JavaScript's."""
    return {found["name"]: ESCAPED.sub(r"\1", found["path"]) for found in IMPORT.finditer(prose)}


def with_properties(prose: str, attributes: str) -> str:
    """A partial's text with the texts that the page gives it; other properties are empty."""
    given = {name: value for name, _, value in GIVEN.findall(attributes)}
    return PROPERTY.sub(lambda found: given.get(found[1], ""), prose)


def parts_of_pages(root: Path, pages: Iterable[Path], site: Site | None) -> set[Path]:
    """The Markdown files below a folder that are only parts of other pages.

    Docusaurus shows no file and no folder whose name begins with `_`. On other sites such a file
    may be a page, unless another page imports it."""
    texts = [path for path in pages if path.suffix.lower() in ENDINGS]
    parts = {path for path in texts if is_part_name(path.relative_to(root))}
    if not parts or rules_of(root, site).site is Site.DOCUSAURUS:
        return parts
    imported = {found for page in texts for found in imports_of(page, root)}
    return {path for path in parts if os.path.realpath(path) in imported}


def is_part_name(path: Path) -> bool:
    return any(part.startswith("_") for part in path.parts)


def imports_of(page: Path, root: Path) -> Iterator[str]:
    """The real paths of the files that a page imports. Blocks."""
    try:
        with page.open("rb") as opened:
            content = opened.read(MOST_BYTES)
    except OSError:
        return  # reading it for its own sake reports the reason
    if HINT.search(content) is None:
        return
    files = SiteFiles(root, page)
    for path in imported_partials(content.decode("utf-8", "replace")).values():
        if found := files.partial(path):
            yield found
