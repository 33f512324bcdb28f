"""What belongs to a question beyond its own words: its thread, its files, its asker's language."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.excerpts import at_most
from adapters.slack.calling.people import People
from adapters.slack.calling.team import Team
from adapters.slack.calling.thread import pages_of
from adapters.slack.hearing.events import BARE_MENTION, IMAGES, Heard, talk_of
from adapters.slack.hearing.files import FileReader
from rag_core.conversation.question import MAX_QUESTION
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

READ_SECONDS = 2.0
"""Slack waits for its ack meanwhile, and gives up after three."""
THREAD_PAGES = 5
"""Slack begins with the oldest: the newest are on the last page."""
MAX_THREAD = 600
"""Characters of a thread: what is looked up is still the question."""
MAX_LINE = 200
"""Of one message, so that a long one leaves room for the others."""
HEADING = "Said before in the thread:"
SAID = "> "
"""What people said is quoted: it is no part of what is asked."""


class Context:
    """Reads it, each part within a bound; what cannot be read in time is left out."""

    def __init__(self, *, people: People, files: FileReader) -> None:
        self._people = people
        self._files = files

    async def of(self, team: Team, heard: Heard, *, reads_thread: bool) -> IncomingQuestion:
        key = heard.question.key
        locale, (texts, unread), talk = await asyncio.gather(
            self._people.locale_of(key.tenant, heard.question.asker_id),
            self._files.read(team, heard.files),
            self._talk(team, heard) if reads_thread else nothing(),
        )
        words = "\n\n".join(part for part in (heard.text, texts) if part)
        told = heard
        if talk:
            told = heard.saying(with_thread(words, talk))
        elif texts:
            told = heard.saying(words)
        address = {**told.question.address, **({IMAGES: "yes"} if unread else {})}
        return replace(told.question, locale=locale, address=address)

    async def locale_of(self, question: IncomingQuestion) -> str:
        return await self._people.locale_of(question.key.tenant, question.asker_id)

    async def _talk(self, team: Team, heard: Heard) -> list[str]:
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


async def nothing() -> list[str]:
    return []


def with_thread(words: str, talk: list[str]) -> str:
    """A question with what was said before it: how the thread began, then the newest of it.

    Whoever says only the bot's name means the thread itself."""
    if words in {"", BARE_MENTION} and talk:
        words, talk = talk[0], talk[1:]
    room = min(MAX_THREAD, MAX_QUESTION - len(words) - len(HEADING) - 4)
    kept: list[tuple[int, str]] = []
    for place in [*range(len(talk))[:1], *reversed(range(1, len(talk)))]:
        line = SAID + at_most(talk[place], MAX_LINE)
        if room <= len(line):
            break
        kept.append((place, line))
        room -= len(line) + 1
    lines = [line for _, line in sorted(kept)]
    return "\n\n".join([words, "\n".join([HEADING, *lines])]) if lines else words
