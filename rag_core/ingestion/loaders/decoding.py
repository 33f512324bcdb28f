"""Bytes as text, whatever encoding they are in."""

from __future__ import annotations

import codecs

from rag_core.ingestion.loaders.document import Unreadable

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decoded(content: bytes) -> tuple[str, str | None]:
    """The text with plain line ends, and a notice where its encoding had to be guessed."""
    notice = None
    try:
        if content.startswith(UTF16_MARKS):
            text = content.decode("utf-16")
        elif b"\x00" in content:
            raise Unreadable("it is not text")
        else:
            text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
        notice = "it is not UTF-8 and was read as Windows-1252"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, notice
