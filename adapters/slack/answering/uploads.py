"""Answers that Slack takes only as a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aiohttp

from adapters.slack.calling.calls import SERVICE
from adapters.slack.calling.team import Team
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamUnavailable

FILE = "file:"
"""What the id of a message begins with that is a file."""
UPLOAD = "files.getUploadURLExternal"


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
