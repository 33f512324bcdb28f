"""The files that a book's sources hold, and the ones that are refused."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_core.ingestion.headings import Site
from rag_core.ingestion.job import FileFailure
from rag_core.ingestion.kinds import READABLE, ending_of, kind_of, too_large
from rag_core.ingestion.partials import parts_of_pages

NOT_YET = {
    ".adoc",
    ".doc",
    ".epub",
    ".htm",
    ".html",
    ".ipynb",
    ".odt",
    ".org",
    ".ppt",
    ".rst",
    ".rtf",
}
"""Documents that people expect to be read; pictures and code beside them are not documents."""
LISTED = READABLE | NOT_YET
PASSED_OVER = {"node_modules", "__pycache__"}
BARE_PAGE = re.compile(
    r"about|changelog|changes|contributing|faq|guide|history|howto|install(?:ation)?|manual|news"
    r"|notes?|overview|read_?me(?:[_-]first)?|rules|schedule|syllabus|todo|usage",
    re.IGNORECASE,
)
"""Names without an extension that pages have. Of others nobody knows: a key may be among them."""
FOR_PROGRAMS = re.compile(
    r"\w*file|cname|codeowners|licen[cs]e|copying|notice|authors|gradlew|mvnw|version",
    re.IGNORECASE,
)
"""Names without an extension that nobody misses."""
NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file to read: where it lies, and what it is called in its book."""

    source: str
    path: Path
    source_file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the sources hold: documents, and files that cannot be read, with the reason."""

    files: tuple[SourceFile, ...]
    failures: tuple[FileFailure, ...]
    notices: tuple[str, ...] = ()
    partly_seen: frozenset[str] = frozenset()
    """Sources with a folder that may not be listed: what is not found there may be there."""


def find_files(sources: Sequence[str], *, site: Site | None = None) -> Found:
    """Every document below the sources once, named relative to the source that has it first.
    Files that are only parts of other pages are no documents."""
    files: dict[str, SourceFile] = {}
    failures: list[FileFailure] = []
    seen: set[str] = set()
    doubtful: list[str] = []
    partly_seen: set[str] = set()
    places = RealPlaces()
    for source in sources:
        root = Path(source)
        base = places.of(root if os.path.isdir(root) else root.parent)
        doubtful += left_out(root)
        closed: list[OSError] = []
        documents = list(documents_of(root, closed.append))
        parts = parts_of_pages(root, documents, site) if documents != [root] else set()
        for path in documents:
            if path in parts:
                continue
            real = places.of(path)
            if real in seen:
                continue
            name = name_in_book(path, root)
            if name in files:
                name = f"{root.resolve().name}/{name}"
            reason = refusal(path, real, base)
            if reason:
                failures.append(FileFailure(source_file=shown(name), reason=reason))
            else:
                seen.add(real)
                files[name] = SourceFile(source=source, path=path, source_file=name)
        if closed:
            partly_seen.add(str(root.resolve()))
            failures += [not_listed(error, root) for error in closed]
    return Found(
        files=tuple(files[name] for name in sorted(files)),
        failures=tuple(sorted(failures, key=lambda failure: failure.source_file)),
        notices=remark_on(doubtful),
        partly_seen=frozenset(partly_seen),
    )


def not_listed(error: OSError, root: Path) -> FileFailure:
    """A folder that nobody may look into: its pages stay as they were."""
    folder = name_in_book(Path(error.filename), root)
    reason = f"it may not be listed ({error.strerror}); what was read from this folder stays"
    return FileFailure(source_file=shown(f"{folder}/"), reason=reason)


def shown(name: str) -> str:
    """A name as it can be told, with a mark for each byte of it that is no text."""
    return name.encode(errors="replace").decode()


def documents_of(root: Path, closed: Callable[[OSError], None]) -> Iterator[Path]:
    """The documents below a folder, in order; a file stands for itself, whatever its kind."""
    if os.path.isdir(root):  # Path.is_dir would raise where nobody may look
        yield from files_below(root, is_document, with_links=True, closed=closed)
    else:
        yield root


def files_below(
    root: Path,
    wanted: Callable[[str], bool],
    *,
    with_links: bool = False,
    closed: Callable[[OSError], None] | None = None,
) -> Iterator[Path]:
    """Files by their names, in order, and links to folders; nothing hidden."""
    for folder, folders, names in os.walk(root, onerror=closed, followlinks=False):
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in PASSED_OVER and name not in linked
        )
        for name in sorted(names):
            if not name.startswith(".") and wanted(name):
                yield Path(folder) / name
        if with_links:
            yield from (Path(folder) / name for name in sorted(linked))


def is_document(name: str) -> bool:
    """Whether people expect a file of a folder to be read."""
    ending = ending_of(name)
    return ending in LISTED if ending else BARE_PAGE.fullmatch(name) is not None


def is_doubtful(name: str) -> bool:
    """Whether a file without an extension may be a page that somebody misses."""
    return not (ending_of(name) or BARE_PAGE.fullmatch(name) or FOR_PROGRAMS.fullmatch(name))


def left_out(root: Path) -> list[str]:
    """Files below a folder that are read only where somebody names them."""
    return [shown(name_in_book(path, root)) for path in files_below(root, is_doubtful)]


def remark_on(names: Sequence[str]) -> tuple[str, ...]:
    """What a job notes of the files that were left out."""
    if not names:
        return ()
    some = ", ".join([*sorted(names)[:NAMED], *(["…"] if len(names) > NAMED else [])])
    count = "1 file" if len(names) == 1 else f"{len(names)} files"
    return (
        f"left out, because nothing says what they are: {count} without an extension ({some});"
        " a file that is named itself is read",
    )


def name_in_book(path: Path, root: Path) -> str:
    return path.name if path == root else path.relative_to(root).as_posix()


class RealPlaces:
    """Where files really lie: a folder is looked up once for all that is in it."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: Path) -> str:
        named = str(path)
        if os.path.islink(named) or path.name in {"", ".."}:
            return os.path.realpath(named)
        folder, name = os.path.split(named)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return f"{self._folders[folder].rstrip(os.sep)}{os.sep}{name}"


def refusal(path: Path, real: str, base: str) -> str | None:
    """Why a file is not read, or nothing."""
    if shown(str(path)) != str(path):
        return "its name, or that of its folder, is not UTF-8: give it another one"
    try:
        found = os.stat(real)
    except (OSError, ValueError):
        return "it is not there, or is a link to something that is not there"
    if not real.startswith(f"{base.rstrip(os.sep)}{os.sep}") and real != base:
        return "it is a link that leads out of the folder"
    if stat.S_ISDIR(found.st_mode):
        return "it is a link to a folder; give that folder itself"
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    kind = kind_of(path.name)
    if kind is None:
        return f"files of the kind {path.suffix.lower()} cannot be read"
    return too_large(kind) if found.st_size > kind.max_bytes else None
