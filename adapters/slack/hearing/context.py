"""What comes with a question in Slack: its thread, its files, its asker's language."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.pastes import fit_context
from adapters.slack.calling.people import People
from adapters.slack.calling.team import Team
from adapters.slack.calling.thread import pages_of
from adapters.slack.hearing.events import BARE_MENTION, IMAGES, Heard, talk_of
from adapters.slack.hearing.files import FileReader
from adapters.text_files import ask_with_files
from rag_core.agent.requests import ANSWER_THIS
from rag_core.conversation.context import ContextItem
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

READ_SECONDS = 2.0
"""Slack waits for its ack meanwhile, and gives up after three."""
THREAD_PAGES = 5
"""Slack begins with the oldest: the newest are on the last page."""


class Context:
    """Reads it, each part within a bound; what cannot be read in time is left out."""

    def __init__(self, *, people: People, files: FileReader) -> None:
        self._people = people
        self._files = files

    async def of(self, team: Team, heard: Heard, *, reads_thread: bool) -> IncomingQuestion:
        key = heard.question.key
        locale, (files, unread), talk = await asyncio.gather(
            self._people.locale_of(key.tenant, heard.question.asker_id),
            self._files.read(team, heard.files),
            self._talk(team, heard) if reads_thread else nothing(),
        )
        split, attached = ask_with_files(heard.text, files)
        beside = fit_context([*heard.shared, *talk, *split.context, *attached])
        bare = ANSWER_THIS if heard.shared or talk else BARE_MENTION
        return replace(
            heard.question,
            question=replace(
                heard.question.question, message=split.question or bare, context=beside
            ),
            original_length=split.original_length,
            locale=locale,
            address={**heard.question.address, **({IMAGES: "yes"} if unread else {})},
        )

    async def locale_of(self, question: IncomingQuestion) -> str:
        return await self._people.locale_of(question.key.tenant, question.asker_id)

    async def _talk(self, team: Team, heard: Heard) -> list[ContextItem]:
        """The thread that the bot was called into, as much of it as can be read in time."""
        key, asked = heard.question.key, heard.question.message_id
        read: dict[str, Mapping[str, Any]] = {}  # the head may stand on each page
        try:
            async with asyncio.timeout(READ_SECONDS):
                thread = pages_of(team, heard.question, most=THREAD_PAGES, latest=asked)
                async for page in thread:
                    read |= {str(message.get("ts")): message for message in page}
        except (UpstreamError, TimeoutError) as error:
            about = {"cause": type(error).__name__, "messages": len(read)}
            log.info("a thread was not read to its end", extra=about | {"channel": key.channel_id})
        read.pop(asked, None)
        return talk_of(list(read.values()), team.workspace)


async def nothing() -> list[ContextItem]:
    return []
