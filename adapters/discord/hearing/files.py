"""Small text files that hang on a question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp
import discord

from adapters.discord.gateway.connection import Connection
from adapters.text_files import MAX_BYTES, MAX_FILES, TEXT_TYPES, TextFile, text_in
from rag_core.errors import UpstreamUnavailable

log = logging.getLogger(__name__)

PROSE = (".txt", ".md", ".rst", ".log", ".csv", ".tex", ".html")
SETTINGS = (".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".xml", ".ipynb", ".urdf")
CODE = (".py", ".js", ".ts", ".c", ".h", ".cpp", ".rs", ".go", ".java", ".kt", ".sh", ".sql")
UNREAD, CUT = "unread", "cut"
"""Where in a question's address it stands that not all of its files were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    """What the files say, and what the answer must say of the others."""

    texts: Sequence[TextFile] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


class FileReader:
    """Fetches text files up to a bound; pictures and everything else it leaves alone."""

    def __init__(self, connection: Connection, *, seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds

    async def read(self, attachments: Sequence[discord.Attachment]) -> ReadFiles:
        wanted = [file for file in attachments if is_text(file)][:MAX_FILES]
        texts = [await self._text_of(file) for file in wanted]
        read = [
            TextFile(name=file.filename, text=text)
            for file, text in zip(wanted, texts, strict=True)
            if text is not None
        ]
        notes = {UNREAD: "yes"} if len(read) < len(attachments) else {}
        notes |= {CUT: "yes"} if any(file.size > MAX_BYTES for file in wanted) else {}
        return ReadFiles(texts=read, notes=notes)

    async def _text_of(self, file: discord.Attachment) -> str | None:
        try:
            async with asyncio.timeout(self._seconds):
                raw = await self._fetched(file.url)
        except (aiohttp.ClientError, OSError, TimeoutError, UpstreamUnavailable) as error:
            log.warning("a file was not read", extra={"cause": type(error).__name__})
            return None
        return text_in(raw)

    async def _fetched(self, url: str) -> bytes:
        """Not a byte more than we look at, however much is sent."""
        raw = b""
        async with self._connection.session.get(url, allow_redirects=False) as answer:
            answer.raise_for_status()
            async for chunk in answer.content.iter_chunked(4_096):
                raw += chunk
                if len(raw) >= MAX_BYTES:
                    break
        return raw[:MAX_BYTES]


def is_text(file: discord.Attachment) -> bool:
    kind = file.content_type or ""
    return kind.startswith(TEXT_TYPES) or file.filename.lower().endswith(PROSE + SETTINGS + CODE)
