"""Short text files that hang on a question, and answers that Slack takes only as a file."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from adapters.slack.calling.calls import SERVICE
from adapters.slack.calling.hosts import is_slacks_own
from adapters.slack.calling.team import Team
from adapters.slack.calling.troubles import Trouble
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamUnavailable

log = logging.getLogger(__name__)

MAX_BYTES = 20_000
MAX_FILES = 3
READ_SECONDS = 2.0
TEXTS = ("text/", "application/json", "application/xml", "application/x-yaml", "application/yaml")
UPLOAD = "files.getUploadURLExternal"


class FileReader:
    """Fetches text files up to a bound; images and everything else are left alone."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def read(self, team: Team, files: Sequence[Mapping[str, Any]]) -> tuple[str, bool]:
        """The texts, and whether there was something that was not read."""
        wanted = [file for file in files if is_text(file)][:MAX_FILES]
        texts = await asyncio.gather(*(self._text(team, file) for file in wanted))
        read = [text for text in texts if text is not None]
        return "\n\n".join(read), len(read) < len(files)

    async def _text(self, team: Team, file: Mapping[str, Any]) -> str | None:
        url = str(file.get("url_private") or "")
        if not is_slacks_own(url, team.client.base_url):
            return None
        try:
            async with asyncio.timeout(READ_SECONDS):
                raw = await self._fetched(team, url)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log.info("a file was not read", extra={"cause": type(error).__name__})
            return None
        if raw is None or b"\0" in raw:
            return None
        name = " ".join(str(file.get("name") or "file").split())
        text = raw.decode("utf-8", errors="replace").replace("\ufeff", "").strip()
        return fenced(name, text) if text else None

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
        and str(file.get("mimetype") or "").startswith(TEXTS)
    )


def fenced(name: str, text: str) -> str:
    fence = "```" if "```" not in text else "~~~"
    return f"{name}:\n{fence}\n{text}\n{fence}"


async def send_file(
    team: Team, question: IncomingQuestion, payload: Mapping[str, Any], *, key: str
) -> str:
    """Send an answer as a file into its thread; the file's id stands for the message."""
    content = str(payload["file"]["content"]).encode()
    name = f"{key}-{payload['file']['name']}"
    place = await team.call(UPLOAD, filename=name, length=len(content))
    try:
        async with team.upload(str(place["upload_url"]), content) as answer:
            if answer.status != 200:
                raise UpstreamUnavailable(SERVICE, "a file was not taken")
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise UpstreamUnavailable(SERVICE, type(error).__name__) from error
    await team.call(
        "files.completeUploadExternal",
        files=[{"id": place["file_id"], "title": payload["file"]["name"]}],
        channel_id=question.key.channel_id,
        thread_ts=question.key.thread_id,
        initial_comment=payload["text"],
    )
    return f"{FILE}{place['file_id']}"


FILE = "file:"
"""What the id of a message begins with that is a file."""
