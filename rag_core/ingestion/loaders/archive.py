"""Looks into a zipped document before anybody unpacks it."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Collection, Iterable
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
BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
EBCDIC_XML = b"\x4c\x6f\xa7\x94"
DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)")
"""Office's own files have no document type; entities are how a few bytes become gigabytes."""
ENCODING = re.compile(rb"<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([^\"'>]*)")
READABLE_AS_ASCII = re.compile(
    rb"utf-?8|utf-?16(?:le|be)?|(?:us-)?ascii|iso-8859-\d{1,2}|windows-125\d", re.IGNORECASE
)
"""Encodings in which a declaration cannot hide. Office writes UTF-8 and UTF-16."""
PICTURES_AND_PAGES = (".svg", ".htm", ".html", ".xhtml", ".mht", ".mhtml")
"""What a document may carry along that has a document type of its own, and is never read."""
STEP = 64 * 1024


def checked_archive(content: bytes, *, main: str) -> bytes:
    """The archive as a parser may have it. Refuses what unpacks to too much, leads elsewhere, or is
    not the document it claims to be."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            parts = archive.infolist()
            check_parts(parts, len(content))
            if main not in {part.filename for part in parts}:
                raise Unreadable("it is not the document that its name says")
            unread = check_markup(archive, parts)
            return without(archive, unread) if unread else content
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


def check_markup(archive: zipfile.ZipFile, parts: Iterable[zipfile.ZipInfo]) -> set[str]:
    """Refuses markup that declares entities, whatever its part is called: a document names its
    parts as it likes. The names of pictures and pages that declare a type are returned."""
    markup = [part for part in parts if is_markup(archive, part)]
    if sum(part.file_size for part in markup) > MOST_MARKUP:
        raise Unreadable(f"it holds more than {MOST_MARKUP // (1024 * 1024)} MB of markup")
    unread: set[str] = set()
    for part in markup:
        text = archive.read(part).replace(b"\0", b"")  # UTF-16 and UTF-32 as ASCII, in any order
        encoding = ENCODING.search(text)
        is_plain = encoding is None or READABLE_AS_ASCII.fullmatch(encoding[1])
        if is_plain and text[:4] != EBCDIC_XML and not DECLARATION.search(text):
            continue
        if not part.filename.lower().endswith(PICTURES_AND_PAGES):
            raise Unreadable("it declares XML entities, which no Office document needs")
        unread.add(part.filename)
    return unread


def is_markup(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Whether an XML parser would begin to read a part: it starts with an angle bracket."""
    with archive.open(part) as opened:
        while piece := opened.read(STEP):
            if piece.startswith(EBCDIC_XML):
                return True
            if begun := piece.lstrip(BEFORE_XML):
                return begun.startswith(b"<")
    return False


def without(archive: zipfile.ZipFile, unread: Collection[str]) -> bytes:
    """The archive with these parts empty."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as kept:
        for part in archive.infolist():
            kept.writestr(part.filename, b"" if part.filename in unread else archive.read(part))
    return packed.getvalue()
