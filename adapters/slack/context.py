"""What belongs to a question beyond its own words: its thread, its files, its asker's language."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from adapters.graphemes import safe_cut
from adapters.slack.events import BARE_MENTION, IMAGES, Heard, talk_of
from adapters.slack.files import FileReader
from adapters.slack.people import People
from adapters.slack.team import Team
from rag_core.conversation.question import MAX_QUESTION
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

READ_SECONDS = 2.0
"""Slack waits for its ack meanwhile, and gives up after three."""
THREAD_PAGE = 100
MAX_THREAD = 600
"""Characters of a thread: what is looked up is still the question."""
HEADING = "Said before in the thread:"


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
        """The thread that the bot was called into, as far as one page goes."""
        key = heard.question.key
        try:
            async with asyncio.timeout(READ_SECONDS):
                page = await team.call(
                    "conversations.replies",
                    channel=key.channel_id,
                    ts=key.thread_id,
                    latest=heard.question.message_id,
                    limit=THREAD_PAGE,
                )
        except (UpstreamError, TimeoutError) as error:
            log.info("a thread was not read", extra={"cause": type(error).__name__})
            return []
        said = [m for m in page.get("messages") or () if m.get("ts") != heard.question.message_id]
        return talk_of(said, team.workspace)


async def nothing() -> list[str]:
    return []


def with_thread(words: str, talk: list[str]) -> str:
    """A question with what was said before it: the thread's first words, then its last ones.

    Whoever says only the bot's name means the thread itself."""
    if words in {"", BARE_MENTION}:
        words, talk = talk[0], talk[1:]
    room = min(MAX_THREAD, MAX_QUESTION - len(words) - len(HEADING) - 4)
    first, last = talk[:1], talk[1:]
    kept: list[str] = []
    for line in [*first, *reversed(last)]:
        if room <= len(line):
            kept.append(line[: safe_cut(line, 0, max(room, 0))])
            break
        kept.append(line)
        room -= len(line) + 1
    kept = [line for line in [*kept[:1], *reversed(kept[1:])] if line]
    return "\n\n".join([words, "\n".join([HEADING, *kept])]) if kept else words
