"""A file of plain text."""

from __future__ import annotations

from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Converted


def convert(name: str, content: bytes) -> Converted:
    """The text as it is."""
    text, notice = decoded(content)
    return Converted(text=text, notices=(notice,) if notice else ())
