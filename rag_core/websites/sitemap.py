"""The addresses that a sitemap lists."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from xml.parsers.expat import ExpatError, ParserCreate

GZIP = b"\x1f\x8b"
NAMES = ("sitemap.txt", ".xml", ".xml.gz")


class SitemapRefused(ValueError):
    """A sitemap that is not read; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """Pages, or further sitemaps."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def is_sitemap(target: str) -> bool:
    """Whether an address asks for a sitemap, by its name."""
    return target.partition("?")[0].lower().endswith(NAMES)


def read_sitemap(content: bytes, *, most: int, max_bytes: int) -> Sitemap:
    """The addresses in a sitemap, at most so many; the rest is left out."""
    if content.startswith(GZIP):
        content = unpacked(content, max_bytes)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return Reader(most).read(content)
    lines = content.decode("utf-8-sig", errors="replace").split()
    pages = [line for line in lines if line.startswith(("http://", "https://"))]
    if lines and not pages:
        raise SitemapRefused("it is not a sitemap")
    return Sitemap(pages=tuple(pages[:most]))


def unpacked(content: bytes, max_bytes: int) -> bytes:
    """A packed sitemap, never more of it than is allowed."""
    inflate = zlib.decompressobj(wbits=31)
    try:
        plain = inflate.decompress(content, max_bytes + 1)
    except zlib.error as error:
        raise SitemapRefused("it is damaged") from error
    if len(plain) > max_bytes:
        raise SitemapRefused(f"it is larger than {max_bytes // (1024 * 1024)} MB when unpacked")
    return plain


class Reader:
    """Reads the XML of a sitemap, without any of the tricks that XML can do."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: dict[str, list[str]] = {"url": [], "sitemap": []}
        self._path: list[str] = []
        self._text: list[str] = []
        self._parser = ParserCreate(namespace_separator=" ")
        self._parser.StartDoctypeDeclHandler = refuse_declarations
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._hear

    def read(self, content: bytes) -> Sitemap:
        try:
            self._parser.Parse(content, True)
        except ExpatError as error:
            raise SitemapRefused("it is not well-formed XML") from error
        return Sitemap(pages=tuple(self._found["url"]), sitemaps=tuple(self._found["sitemap"]))

    def _begin(self, name: str, attributes: object) -> None:
        self._path.append(name.rpartition(" ")[2])
        if len(self._path) == 1 and self._path[0] not in {"urlset", "sitemapindex"}:
            raise SitemapRefused("it is not a sitemap")
        self._text = []

    def _end(self, name: str) -> None:
        held = self._found.get(self._path[1]) if len(self._path) == 3 else None
        if held is not None and self._path[2] == "loc" and len(held) < self._most:
            held.append("".join(self._text).strip())
        self._path.pop()

    def _hear(self, text: str) -> None:
        if len(self._path) == 3 and self._path[2] == "loc":
            self._text.append(text)


def refuse_declarations(*_: object) -> None:
    raise SitemapRefused("it declares entities or a document type, which sitemaps do not need")
