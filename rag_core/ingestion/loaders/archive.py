"""Looks into a zipped document before anybody unpacks it."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable
from io import BytesIO
from pathlib import PurePosixPath

from rag_core.ingestion.loaders.document import Unreadable

MOST_PARTS = 10_000
MOST_BYTES = 512 * 1024 * 1024
"""Unpacked, pictures included."""
MOST_MARKUP = 64 * 1024 * 1024
"""Unpacked XML: parsed, it takes about ten times that."""
MOST_PACKED = 200
"""How many times larger than its file an honest document of some size is, at most."""
HONEST = 16 * 1024 * 1024
DECLARATION = re.compile(
    rb"<!(?:DOCTYPE|ENTITY)|<\x00!\x00(?:D\x00O\x00C\x00T|E\x00N\x00T)|\x00<\x00!\x00(?:D\x00O|E\x00N)"
)
"""Office's own files have no document type; entities are how a few bytes become gigabytes."""


def checked_archive(content: bytes, *, main: str) -> None:
    """Refuses what unpacks to too much, leads elsewhere, or is not the document it claims to be."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            parts = archive.infolist()
            check_parts(parts, len(content))
            if main not in {part.filename for part in parts}:
                raise Unreadable("it is not the document that its name says")
            check_markup(archive, parts)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error) as error:
        raise Unreadable("it is damaged, or not an Office document") from error
    except RuntimeError as error:  # a part is encrypted
        raise Unreadable("it is protected with a password") from error


def check_parts(parts: Iterable[zipfile.ZipInfo], packed: int) -> None:
    parts = list(parts)
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS:
        raise Unreadable(f"it is a zip bomb: it has more than {MOST_PARTS} parts")
    if unpacked > MOST_BYTES or (unpacked > HONEST and unpacked > packed * MOST_PACKED):
        raise Unreadable(f"it is a zip bomb: unpacked it has {unpacked // (1024 * 1024)} MB")
    if any(leads_out(part.filename) for part in parts):
        raise Unreadable("one of its parts has a name that leads out of the document")


def leads_out(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in path.parts[0] if path.parts else True


def check_markup(archive: zipfile.ZipFile, parts: Iterable[zipfile.ZipInfo]) -> None:
    markup = [part for part in parts if part.filename.lower().endswith((".xml", ".rels"))]
    if sum(part.file_size for part in markup) > MOST_MARKUP:
        raise Unreadable(f"it holds more than {MOST_MARKUP // (1024 * 1024)} MB of markup")
    for part in markup:
        if DECLARATION.search(archive.read(part)):
            raise Unreadable("it declares XML entities, which no Office document needs")
