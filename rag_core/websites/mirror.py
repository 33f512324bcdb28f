"""The pages of one website as files, with what is needed to ask whether they changed."""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import unquote

from rag_core.websites.address import WebAddress
from rag_core.websites.response import Answer

INDEX, PAGES = "index.json", "pages"
SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/x-rst": ".rst",
    "application/x-ipynb+json": ".ipynb",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
}
UNSAID = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
"""Media types that leave it to the name what a document is."""
NAMED = frozenset({".html", ".htm", ".md", ".mdx", ".markdown", ".txt", ".rst", ".ipynb"}) | {
    ".pdf", ".docx", ".pptx"
}  # fmt: skip
CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
UNSAFE = re.compile(r"[^\w.-]+")
MAX_STEP, MAX_NAME = 48, 200
UTF8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


class KindRefused(ValueError):
    """A document of a kind that cannot be read; its text says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page as it was last fetched."""

    file: str
    etag: str = ""
    last_modified: str = ""


class Mirror:
    """Pages below one folder, one file each; the index is written last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.root = folder / PAGES
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._pages = dict(read_index(folder / INDEX))

    def conditions(self, address: WebAddress) -> Mapping[str, str]:
        """What to ask with, so that an unchanged page is not sent again."""
        page = self._pages.get(str(address))
        if page is None or not (self.root / page.file).is_file():
            return {}
        asked = {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified}
        return {name: value for name, value in asked.items() if value}

    def keep(self, address: WebAddress, answer: Answer) -> None:
        """Write a page that was fetched; it is there whole or as it was. Blocks."""
        file = self._file_of(address, suffix_of(answer))
        path = self.root / file
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.part")
        draft.write_bytes(in_utf8(answer))
        draft.replace(path)
        before = self._pages.get(str(address))
        if before is not None and before.file != file:
            (self.root / before.file).unlink(missing_ok=True)
        self._pages[str(address)] = Page(
            file=file,
            etag=answer.headers.get("etag", ""),
            last_modified=answer.headers.get("last-modified", ""),
        )

    def restore(self) -> None:
        """Forget what a reading that did not come to its end has left. Blocks."""
        self.settle(self._pages.keys())

    def settle(self, kept: Collection[str]) -> None:
        """Forget every page but these, and write down what is there. Blocks."""
        for address in self._pages.keys() - set(kept):
            (self.root / self._pages.pop(address).file).unlink(missing_ok=True)
        draft = self._folder / f"{INDEX}.part"
        pages = {address: asdict(page) for address, page in self._pages.items()}
        draft.write_text(json.dumps(pages, ensure_ascii=False), encoding="utf-8")
        draft.replace(self._folder / INDEX)
        known = {str(self.root / page.file) for page in self._pages.values()}
        for folder, _, names in os.walk(self.root):
            for name in names:
                if (path := os.path.join(folder, name)) not in known:
                    Path(path).unlink(missing_ok=True)

    def addresses(self) -> Mapping[Path, str]:
        """Where each file's page is on the web."""
        return {self.root / page.file: address for address, page in self._pages.items()}

    def _file_of(self, address: WebAddress, suffix: str) -> str:
        name = file_name(address, suffix)
        taken = {page.file.lower() for url, page in self._pages.items() if url != str(address)}
        if name.lower() not in taken:
            return name
        return f"{name.removesuffix(suffix)}-{digest(str(address))}{suffix}"


def read_index(file: Path) -> Mapping[str, Page]:
    """The pages of an earlier reading; where the index is damaged, all are fetched anew."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        return {address: Page(**page) for address, page in document.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def suffix_of(answer: Answer) -> str:
    """What a document is, by its media type or else its name."""
    named = Path(answer.address.target.partition("?")[0]).suffix.lower()
    kind = answer.media_type
    if kind in SUFFIXES:
        return SUFFIXES[kind]
    if kind in UNSAID:
        if named in NAMED:
            return named
        if kind == "text/plain":
            return ".txt"
    raise KindRefused(f"documents of the kind {kind or 'unknown'} cannot be read")


def in_utf8(answer: Answer) -> bytes:
    """Text in the encoding that files are read in; a mark at its start overrules what it says of
    itself."""
    named = CHARSET.search(answer.headers.get("content-type", ""))
    if not answer.media_type.startswith("text/") or named is None or named[1].lower() in UTF8:
        return answer.body
    try:
        text = answer.body.decode(codecs.lookup(named[1]).name, errors="replace")
    except (LookupError, ValueError):
        return answer.body
    return codecs.BOM_UTF8 + text.encode("utf-8", errors="replace")


def file_name(address: WebAddress, suffix: str) -> str:
    """A name that tells the address, and cannot lead out of its folder."""
    path, _, query = address.target.partition("?")
    steps = [step for step in unquote(path, errors="replace").split("/") if step]
    if path.endswith("/"):
        steps.append("index")
    named = [plain(step) for step in (address.authority, *steps)]
    named[-1] = named[-1].removesuffix(Path(named[-1]).suffix if has_kind(named[-1]) else "")
    name = "/".join(named)
    if query or len(name) > MAX_NAME:
        name = f"{name[:MAX_NAME].rstrip('/.')}-{digest(str(address))}"
    return name + suffix


def has_kind(step: str) -> bool:
    return Path(step).suffix.lower() in NAMED


def plain(step: str) -> str:
    """One step of a path: no dot in front, nothing that a file system takes amiss."""
    safe = UNSAFE.sub("-", step)[:MAX_STEP].strip(".")
    return safe if safe and not safe.startswith("__") and safe != "node_modules" else f"-{safe}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]
