"""Where a file's page is on its site, and the address of a place on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from rag_core.ingestion.headings import Site

NUMBER_PREFIX = re.compile(r"^\d+\s*[-_.]+\s*(?=[^-_.\s])")
VERSION_LIKE = re.compile(r"^\d+(?:[-_.]\d+)+")
"""Docusaurus takes the number off `02-intro`, but not off what looks like a date or version."""
IN_ADDRESS = "/-._~!$&'()*+,;=:@"
FOLDER_PAGES = {"readme", "index"}
CONFIG_FILES = {
    "docusaurus.config.js": Site.DOCUSAURUS,
    "docusaurus.config.ts": Site.DOCUSAURUS,
    "docusaurus.config.mjs": Site.DOCUSAURUS,
    "mkdocs.yml": Site.MKDOCS,
    "mkdocs.yaml": Site.MKDOCS,
    "book.toml": Site.MDBOOK,
}


def site_of(source: Path) -> Site:
    """The site by its configuration file, in the folder or just above it."""
    folder = source if source.is_dir() else source.parent
    for place in (folder, folder.resolve().parent):
        for name, site in CONFIG_FILES.items():
            if (place / name).is_file():
                return site
    return Site.PLAIN


def page_url(
    source_file: str, fields: Mapping[str, Any], *, base_url: str, site: Site
) -> str | None:
    """A page's address: its own word for it, else by the site's rules; none without a base."""
    own = fields.get("url")
    if isinstance(own, str) and is_web_address(own.strip()):
        return own.strip()
    if not base_url:
        return None
    path = page_path(source_file, fields, site)
    return f"{base_url.rstrip('/')}/{quote(path, safe=IN_ADDRESS)}"


def page_path(source_file: str, fields: Mapping[str, Any], site: Site) -> str:
    """The address below the base, without a first slash."""
    path = PurePosixPath(source_file)
    if site is Site.GITHUB:
        return source_file
    if site is Site.DOCUSAURUS:
        return docusaurus_path(path, fields)
    if site is Site.MDBOOK:
        return str(path.with_name("index.html" if is_folder_page(path) else f"{path.stem}.html"))
    folder_page = is_folder_page(path)
    bare = (
        ""
        if folder_page and path.parent == PurePosixPath()
        else str(path.parent if folder_page else path.with_suffix(""))
    )
    return f"{bare}/" if site is Site.MKDOCS and bare else bare


def docusaurus_path(path: PurePosixPath, fields: Mapping[str, Any]) -> str:
    """Number prefixes go; `slug`, or else `id`, names the page; folder pages take the folder's."""
    folders = [without_number(part) for part in path.parts[:-1]]
    slug = fields.get("slug")
    if isinstance(slug, str) and slug.strip():
        if slug.startswith("/"):
            return slug.strip("/")
        return "/".join([*folders, slug.strip("/")])
    own_id = fields.get("id")
    if isinstance(own_id, str) and own_id.strip() and "/" not in own_id:
        name = own_id.strip()
    else:
        name = without_number(path.stem)
    same_as_folder = bool(folders) and name.lower() == folders[-1].lower()
    if is_folder_page(path) or same_as_folder:
        return "/".join(folders)
    return "/".join([*folders, name])


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
