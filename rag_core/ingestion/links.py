"""Where a file's page is on its site, and the address of a place on it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from rag_core.ingestion.headings import Site
from rag_core.ingestion.site import Habits

NUMBER_PREFIX = re.compile(r"^\d+\s*[-_.]+\s*(?=[^-_.\s])")
VERSION_LIKE = re.compile(r"^\d+[-_.]\d+")
"""Docusaurus takes the number off `02-intro`, but not off what looks like a date or version."""
IN_ADDRESS = "/-._~!$&'()*+,;=:@"
FOLDER_PAGES = {"readme", "index"}
PAGES = {".md", ".mdx", ".markdown", ".rst", ".ipynb", ".txt"}
"""What sites make pages of; every other file is served as it is, under its own name."""
USUAL = Habits()


def page_url(
    source_file: str,
    fields: Mapping[str, Any],
    *,
    base_url: str,
    site: Site,
    habits: Habits = USUAL,
) -> str | None:
    """A page's address: its own word for it, else by the site's rules; none without a base."""
    own = fields.get("url")
    if isinstance(own, str) and is_web_address(own.strip()):
        return own.strip()
    if not base_url:
        return None
    path = page_path(source_file, fields, site, habits)
    return None if path is None else f"{base_url.rstrip('/')}/{quote(path, safe=IN_ADDRESS)}"


def page_path(
    source_file: str, fields: Mapping[str, Any], site: Site, habits: Habits = USUAL
) -> str | None:
    """The address below the base, without a first slash; none for what the site does not show."""
    path = PurePosixPath(source_file)
    if site is Site.GITHUB:
        return source_file
    if habits.content:
        if not path.is_relative_to(habits.content):
            return None
        path = path.relative_to(habits.content)
    if path.suffix.lower() in {".html", ".htm", ".xhtml"} and path.stem.lower() == "index":
        return "" if path.parent == PurePosixPath() else f"{path.parent}/"
    if path.suffix.lower() not in PAGES:
        return str(path)
    if site is Site.DOCUSAURUS:
        return docusaurus_path(path, fields, habits)
    if site is Site.MDBOOK:
        return mdbook_path(path)
    return mkdocs_path(path, habits) if site is Site.MKDOCS else plain_path(path)


def plain_path(path: PurePosixPath) -> str:
    if not is_folder_page(path):
        return str(path.with_suffix(""))
    return "" if path.parent == PurePosixPath() else str(path.parent)


def mkdocs_path(path: PurePosixPath, habits: Habits) -> str:
    if habits.has_file_names:
        return html_path(path)
    bare = plain_path(path)
    return f"{bare}/" if bare else ""


def mdbook_path(path: PurePosixPath) -> str | None:
    """The table of contents is the one file that is no page itself."""
    return None if path.name == "SUMMARY.md" else html_path(path)


def html_path(path: PurePosixPath) -> str:
    return str(path.with_name("index.html" if is_folder_page(path) else f"{path.stem}.html"))


def docusaurus_path(path: PurePosixPath, fields: Mapping[str, Any], habits: Habits) -> str | None:
    """Number prefixes go; `slug`, or else `id`, names the page; folder pages take the folder's.
    Files and folders whose names begin with `_` are parts of pages, not pages."""
    if any(part.startswith("_") for part in path.parts):
        return None
    as_named = habits.keeps_numbers or fields.get("parse_number_prefixes") is False
    named = str if as_named else without_number
    folder = "/".join(named(part) for part in path.parts[:-1])
    slug = text_field(fields, "slug")
    if slug:
        found = posixpath.normpath(posixpath.join("/", folder, slug)).strip("/")
    elif is_category_index(path):
        found = folder
    else:
        own = text_field(fields, "id")
        name = own if own and "/" not in own else named(path.stem)
        found = f"{folder}/{name}" if folder else name
    return f"{found}/" if habits.ends_with_slash and found else found


def text_field(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def is_category_index(path: PurePosixPath) -> bool:
    """Whether a file is its folder's own page: README, index, or one that is called like it."""
    return is_folder_page(path) or path.stem.lower() == path.parent.name.lower()


def without_number(name: str) -> str:
    if VERSION_LIKE.match(name):
        return name
    return NUMBER_PREFIX.sub("", name)


def is_folder_page(path: PurePosixPath) -> bool:
    return path.stem.lower() in FOLDER_PAGES


def with_anchor(url: str | None, anchor: str) -> str | None:
    """The address of one heading on a page; an address with its own anchor stays as it is."""
    if url is None or not anchor or "#" in url:
        return url
    return f"{url}#{quote(anchor, safe=IN_ADDRESS)}"


def is_web_address(text: str) -> bool:
    """Whether a page may be linked to by this: people will click it."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and not re.search(r"\s", text)
