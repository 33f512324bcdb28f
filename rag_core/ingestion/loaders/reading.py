"""The bytes of one file, and from them its text."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping
from io import FileIO
from types import TracebackType
from typing import Any, Self

from rag_core.errors import IngestionError
from rag_core.ingestion.front_matter import split_front_matter
from rag_core.ingestion.includes import with_includes
from rag_core.ingestion.kinds import KINDS, MARKDOWN, Kind, kind_of, too_large
from rag_core.ingestion.loaders.container import Container, Limits
from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Converted, LoadedDocument, Unreadable, file_hash
from rag_core.ingestion.sources import SourceFile

WIDE = " " * 200
GAP = re.compile(r"[ \t]{200,}")
DEFAULT_LIMITS = Limits()
Reader = Callable[[str, bytes], Converted]


class Loader:
    """Reads files by their kind. Formats that can hang or explode are read in another process,
    which one loader keeps for all its files; leaving the context ends it."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._container = Container(limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._container.close()

    def load(self, source_file: str, content: bytes, *, suffix: str = "") -> LoadedDocument:
        """A file's text; the suffix says what it is where its name does not. Blocks."""
        kind = KINDS.get(suffix) if suffix else kind_of(source_file)
        if kind is None:
            raise IngestionError(source_file, "read", "files of this kind cannot be read")
        try:
            converted = self._converted(kind, source_file, content)
        except Unreadable as refusal:
            raise IngestionError(source_file, "read", str(refusal)) from refusal
        return LoadedDocument(
            source_file=source_file,
            file_hash=file_hash(content),
            text=without_wide_gaps(converted.text),
            is_markdown=kind.reader != "plain",
            fields=converted.fields,
            notices=converted.notices,
        )

    def _converted(self, kind: Kind, source_file: str, content: bytes) -> Converted:
        if len(content) > kind.max_bytes:
            raise Unreadable(too_large(kind))
        if len(content) >= kind.apart_from:
            return self._container.convert(kind.reader, source_file, content)
        return reader(kind.reader)(source_file, content)


def without_wide_gaps(text: str) -> str:
    """Text without runs of white space that nobody sees, and that cutting would stumble over."""
    return GAP.sub(" ", text) if WIDE in text or "\t" * len(WIDE) in text else text


def load(source_file: str, content: bytes) -> LoadedDocument:
    """One file's text. Blocks."""
    with Loader() as loader:
        return loader.load(source_file, content)


def fields_of(source_file: str, content: bytes) -> Mapping[str, Any]:
    """What a file says of its place in a course; only Markdown has a place to say it."""
    if kind_of(source_file) is not MARKDOWN:
        return {}
    try:
        text, _ = decoded(content)
    except Unreadable as refusal:
        raise IngestionError(source_file, "read", str(refusal)) from refusal
    return split_front_matter(text)[0]


def reader(name: str) -> Reader:
    convert: Reader = importlib.import_module(f"rag_core.ingestion.loaders.{name}").convert
    return convert


def read_up_to(opened: FileIO, most: int) -> bytes:
    """A file's bytes, for which one call is enough where its size stays what it is."""
    size = os.fstat(opened.fileno()).st_size
    content = opened.read(min(size + 1, most))
    while size < len(content) < most and (more := opened.read(most - len(content))):
        content += more
    return content


def read_source(file: SourceFile) -> bytes:
    """The bytes of a file, never more than the bound even if it grows while it is read, with what
    its page includes from other files: when one of those changes, the page has changed."""
    kind = kind_of(file.path.name)
    if kind is None:
        raise IngestionError(file.source_file, "read", "files of this kind cannot be read")
    try:
        with open(file.path, "rb", buffering=0) as opened:
            content = read_up_to(opened, kind.max_bytes + 1)
    except OSError as error:
        reason = f"it could not be opened ({error.strerror})"
        raise IngestionError(file.source_file, "read", reason) from error
    if len(content) > kind.max_bytes:
        raise IngestionError(file.source_file, "read", too_large(kind))
    return with_includes(file, content)
