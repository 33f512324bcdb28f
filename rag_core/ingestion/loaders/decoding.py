"""Bytes as text, whatever encoding they are in."""

from __future__ import annotations

import codecs

from rag_core.ingestion.loaders.document import Unreadable

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins like the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
DISGUISED = {
    b"%PDF-": "it is a PDF under another name; let its name end in .pdf",
    b"PK\x03\x04": "it is a packed file (Word, PowerPoint, zip) under another name",
    b"{\\rtf": "it is a file of the kind .rtf under another name",
}
"""How files begin that look like text here and there, and are none."""
DAMAGED = "some of its characters are damaged"
ODD = "it is not UTF-8 and was read as Windows-1252"
MIXED = "some of its lines are not UTF-8 and were read as Windows-1252"


def decoded(content: bytes) -> tuple[str, str | None]:
    """The text with plain line ends, and a notice where its encoding had to be guessed."""
    for beginning, reason in DISGUISED.items():
        if content.startswith(beginning):
            raise Unreadable(reason)
    text, notice = as_text(content)
    if "\x00" in text:
        raise Unreadable("it is not text")
    text = text.lstrip("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, notice


def as_text(content: bytes) -> tuple[str, str | None]:
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            text = content.decode(encoding, errors="replace")
            return text, DAMAGED if "\ufffd" in text else None
    try:
        return content.decode("utf-8-sig"), None
    except UnicodeDecodeError:
        return line_by_line(content)


def line_by_line(content: bytes) -> tuple[str, str]:
    """A file that several people have written with several programs: each line as it is."""
    lines: list[str] = []
    some_are_utf8 = False
    for line in content.split(b"\n"):
        try:
            lines.append(line.decode())
            some_are_utf8 = some_are_utf8 or not line.isascii()
        except UnicodeDecodeError:
            lines.append(line.decode("cp1252", errors="replace"))
    return "\n".join(lines), MIXED if some_are_utf8 else ODD
