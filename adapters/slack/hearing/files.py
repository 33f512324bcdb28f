"""Short text files that hang on a question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from adapters.slack.calling.hosts import is_slacks_own
from adapters.slack.calling.team import Team
from adapters.slack.calling.troubles import Trouble
from adapters.text_files import MAX_BYTES, MAX_FILES, TEXT_TYPES, TextFile, text_in

log = logging.getLogger(__name__)

READ_SECONDS = 2.0


class FileReader:
    """Fetches text files up to a bound; images and everything else are left alone."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def read(
        self, team: Team, files: Sequence[Mapping[str, Any]]
    ) -> tuple[list[TextFile], bool]:
        """The texts, and whether there was something that was not read."""
        wanted = [file for file in files if is_text(file)][:MAX_FILES]
        texts = await asyncio.gather(*(self._text(team, file) for file in wanted))
        read = [text for text in texts if text is not None]
        return read, len(read) < len(files)

    async def _text(self, team: Team, file: Mapping[str, Any]) -> TextFile | None:
        url = str(file.get("url_private") or "")
        if not is_slacks_own(url, team.client.base_url):
            return None
        try:
            async with asyncio.timeout(READ_SECONDS):
                raw = await self._fetched(team, url)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log.info("a file was not read", extra={"cause": type(error).__name__})
            return None
        text = text_in(raw) if raw is not None else None
        return TextFile(name=str(file.get("name") or "file"), text=text) if text else None

    async def _fetched(self, team: Team, url: str) -> bytes | None:
        """Without the scope Slack answers with its page for signing in."""
        headers = {"Authorization": f"Bearer {team.client.token}"}
        async with self._session.get(url, headers=headers, allow_redirects=False) as answer:
            if answer.status != 200 or answer.content_type == "text/html":
                team.troubles.note(Trouble("files", "missing_scope", "files:read"))
                return None
            return await answer.content.read(MAX_BYTES + 1)


def is_text(file: Mapping[str, Any]) -> bool:
    size = file.get("size")
    return (
        isinstance(size, int)
        and size <= MAX_BYTES
        and str(file.get("mimetype") or "").startswith(TEXT_TYPES)
    )
