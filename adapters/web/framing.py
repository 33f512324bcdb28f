"""Refuses a request head that a proxy in front could read otherwise (request smuggling).

h11 takes what RFC 9112 lets a lenient server take: bare line feeds, folded lines, a repeated
Content-Length, Content-Length beside Transfer-Encoding. Who reads the same bytes differently sees
another end of the request, and takes the rest for a request of somebody else."""

from __future__ import annotations

import re
from collections.abc import Sequence

import h11
from h11._receivebuffer import ReceiveBuffer

MAX_HEAD = 32 * 1024
LOOSE_LINE = re.compile(rb"[^\r]\n|\r[^\n]|\n[ \t]")
"""A bare line feed, a bare carriage return, a folded line."""
CHUNK_LINE = re.compile(rb"[0-9A-Fa-f]{1,16}(?:;[^\r\n]*)?\r\n")
VERSION = re.compile(rb" HTTP/(\S*)$")


class StrictConnection(h11.Connection):
    """h11's server side, with lines read as strictly as RFC 9112 allows."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self._receive_buffer = StrictBuffer()


class StrictBuffer(ReceiveBuffer):
    """Hands out only lines that everybody ends at the same byte."""

    def __init__(self) -> None:
        super().__init__()
        self._checked = 0

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines of a head, or of the trailer behind a chunked body."""
        found = self._data.find(b"\r\n\r\n", max(0, self._checked - 3))
        end = len(self._data) if found < 0 else found + 2
        if self._data[:1] == b"\n" or LOOSE_LINE.search(self._data, max(0, self._checked - 1), end):
            raise h11.LocalProtocolError("lines must end with CR LF and not be folded")
        self._checked = end
        lines = super().maybe_extract_lines()
        if lines:
            check_framing(lines)
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        """The line before a chunk."""
        line = super().maybe_extract_next_line()
        if line is not None and not CHUNK_LINE.fullmatch(line):
            raise h11.LocalProtocolError("illegal chunk header")
        return line

    def _extract(self, count: int) -> bytearray:
        self._checked = 0
        return super()._extract(count)


def check_framing(lines: Sequence[bytes | bytearray]) -> None:
    """Where the body ends must be said once, and in a way that every version understands."""
    version = VERSION.search(lines[0])
    if version is not None and version[1] not in {b"1.0", b"1.1"}:
        raise h11.LocalProtocolError("the version must be HTTP/1.0 or HTTP/1.1")
    lengths = values_of(b"content-length", lines)
    codings = values_of(b"transfer-encoding", lines)
    if len(lengths) + len(codings) > 1 or any(b"," in value for value in (*lengths, *codings)):
        raise h11.LocalProtocolError("the length of the body must be given once")
    if codings and version is not None and version[1] == b"1.0":
        raise h11.LocalProtocolError("HTTP/1.0 has no transfer encoding")


def values_of(name: bytes, lines: Sequence[bytes | bytearray]) -> list[bytes]:
    fields = [bytes(line).partition(b":") for line in lines]
    return [value for field, _, value in fields if field.lower() == name]
