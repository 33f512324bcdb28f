"""Which kind of site publishes a folder, and what its configuration says of addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rag_core.ingestion.headings import Site

MOST_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What one site does otherwise than its kind does by itself."""

    keeps_numbers: bool = False
    """Docusaurus with `numberPrefixParser: false`: `01-intro` stays so."""
    ends_with_slash: bool = False
    """Docusaurus with `trailingSlash: true`."""
    has_file_names: bool = False
    """MkDocs with `use_directory_urls: false`: pages end with `.html`."""
    content: str = ""
    """The folder below the one that is read from which the site takes its pages."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How the pages of one source are addressed."""

    site: Site = Site.PLAIN
    habits: Habits = Habits()


@dataclass(frozen=True, slots=True)
class Configuration:
    """A kind of configuration file, and how it is read."""

    site: Site
    read: Callable[[str], Habits]


def docusaurus_habits(text: str) -> Habits:
    """A configuration is a program; the few settings that matter are told by their words."""
    code = re.sub(r"/\*.*?\*/|^\s*//.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    at_root = re.search(r"routeBasePath\s*:\s*['\"]/?['\"]", code)
    return Habits(
        keeps_numbers=bool(re.search(r"numberPrefixParser\s*:\s*false\b", code)),
        ends_with_slash=bool(re.search(r"trailingSlash\s*:\s*true\b", code)),
        content="docs" if at_root else "",
    )


def mkdocs_habits(text: str) -> Habits:
    """Read line by line: these files name Python objects, which no safe reader of YAML takes."""
    folder = re.search(r"(?m)^docs_dir\s*:\s*['\"]?([^'\"#\n]+)", text)
    return Habits(
        has_file_names=bool(re.search(r"(?m)^use_directory_urls\s*:\s*(?:false|no|off)\b", text)),
        content=folder[1].strip().strip("./") if folder else "docs",
    )


def mdbook_habits(text: str) -> Habits:
    folder = re.search(r"(?m)^src\s*=\s*['\"]([^'\"\n]+)", text)
    return Habits(content=folder[1].strip("./") if folder else "src")


DOCUSAURUS = Configuration(Site.DOCUSAURUS, docusaurus_habits)
MKDOCS = Configuration(Site.MKDOCS, mkdocs_habits)
MDBOOK = Configuration(Site.MDBOOK, mdbook_habits)
FILES = {
    "docusaurus.config.js": DOCUSAURUS,
    "docusaurus.config.ts": DOCUSAURUS,
    "docusaurus.config.mjs": DOCUSAURUS,
    "docusaurus.config.cjs": DOCUSAURUS,
    "mkdocs.yml": MKDOCS,
    "mkdocs.yaml": MKDOCS,
    "book.toml": MDBOOK,
}


def rules_of(source: Path, site: Site | None = None) -> Rules:
    """The rules by the configuration file, in the folder or above it; a named site wins.

    The pages may lie one folder deeper than the file (`docs/`), or two where they are a part of
    them (`docs/guide/`). Where nobody may look (`Path.is_file` would raise) there is no file."""
    folder = (source if os.path.isdir(source) else source.parent).resolve()
    for place in (folder, *list(folder.parents)[:2]):
        for name, configuration in FILES.items():
            file = place / name
            if os.path.isfile(file) and site in {None, configuration.site}:
                habits = configuration.read(text_of(file))
                content = content_below(place / habits.content, folder) if habits.content else ""
                return Rules(configuration.site, replace(habits, content=content))
    return Rules(site or Site.PLAIN)


def content_below(content: Path, folder: Path) -> str:
    """Where the pages lie as seen from the folder that is read; nothing where it is inside."""
    inside = content.resolve()
    if inside != folder and inside.is_relative_to(folder):
        return inside.relative_to(folder).as_posix()
    return ""


def text_of(file: Path) -> str:
    """The beginning of a file; one that cannot be read says nothing."""
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""
