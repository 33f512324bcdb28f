"""The files that a book's sources hold, and the ones that are refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_core.ingestion.job import FileFailure
from rag_core.ingestion.kinds import READABLE, kind_of, too_large

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


def find_files(sources: Sequence[str]) -> Found:
    """Every document below the sources once, named relative to the source that has it first."""
    files: dict[str, SourceFile] = {}
    failures: list[FileFailure] = []
    seen: set[str] = set()
    places = RealPlaces()
    for source in sources:
        root = Path(source)
        base = places.of(root if root.is_dir() else root.parent)
        for path in documents_of(root):
            real = places.of(path)
            if real in seen:
                continue
            name = name_in_book(path, root)
            if name in files:
                name = f"{root.resolve().name}/{name}"
            reason = refusal(path, real, base)
            if reason:
                failures.append(FileFailure(source_file=name, reason=reason))
            else:
                seen.add(real)
                files[name] = SourceFile(source=source, path=path, source_file=name)
    return Found(
        files=tuple(files[name] for name in sorted(files)),
        failures=tuple(sorted(failures, key=lambda failure: failure.source_file)),
    )


def documents_of(root: Path) -> Iterator[Path]:
    """The documents below a folder, in order; a file stands for itself, whatever its kind."""
    if not root.is_dir():
        yield root
        return
    for folder, folders, names in os.walk(root, followlinks=False):
        linked = [name for name in folders if (Path(folder) / name).is_symlink()]
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in PASSED_OVER and name not in linked
        )
        for name in sorted(names):
            path = Path(folder) / name
            if not name.startswith(".") and path.suffix.lower() in LISTED:
                yield path
        yield from (Path(folder) / name for name in sorted(linked))


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
        return f"files of the kind {path.suffix.lower() or 'without an extension'} cannot be read"
    return too_large(kind) if found.st_size > kind.max_bytes else None
