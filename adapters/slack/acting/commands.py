"""The slash commands: /ask, /lookup and /footnote; their names are settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.apologies import sentence_for
from adapters.excerpts import one_line
from adapters.passages import Passages
from adapters.pastes import split_message
from adapters.platform import AcceptsQuestions
from adapters.refusals import refusal_sentence
from adapters.slack.acting.house_keeping import HouseCommand
from adapters.slack.acting.private import RESPONSE_URL
from adapters.slack.acting.typed import Reply, Typed, said, typed_in
from adapters.slack.answering.blocks import sections
from adapters.slack.answering.markdown import as_code, escaped, link, to_mrkdwn
from adapters.slack.calling.people import People
from adapters.slack.config import CommandNames
from adapters.slack.hearing.mentions import plain_text
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import Question, shows_nothing
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.notices import notices_in
from rag_core.errors import DeskFull, FootnoteError, StorageError
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.whereabouts import whereabouts

LOOKUP_SECONDS = 2.0
"""Whoever uses a command is answered within three seconds, or not at all."""
MAX_EXCERPT = 300
SEARCHING = "🔎 Searching the docs… The answer comes here, for you alone."
NOTHING_FOUND = "The documents have no passage on this."
FOUND = "What the documents say"
NOT_TAKEN = "I could not write your question down just now. Please ask again in a minute."


class Commands:
    """Answers what is typed, within the three seconds that Slack waits."""

    def __init__(
        self,
        *,
        names: CommandNames,
        desk: AcceptsQuestions,
        people: People,
        passages: Passages | None,
        house: HouseCommand | None,
    ) -> None:
        self._names = names
        self._desk = desk
        self._people = people
        self._passages = passages
        self._house = house

    async def use(self, body: Mapping[str, Any]) -> Reply:
        """What the person reads at once."""
        used = typed_in(body)
        if used.name == self._names.ask:
            return await self._ask(used)
        if used.name == self._names.lookup and self._passages is not None:
            return await self._lookup(used, self._passages)
        if used.name == self._names.house and self._house is not None:
            return await self._house.use(used)
        return said("I do not know this command.")

    async def _ask(self, used: Typed) -> Reply:
        words = plain_text(used.text, "")
        if shows_nothing(words):
            return said(f"Write your question behind {used.name}, as in: {used.name} How do I …?")
        locale = await self._people.locale_of(used.team_id, used.user_id)
        try:
            receipt = await self._desk.accept(asked_by_command(used, words, locale=locale))
        except DeskFull:
            return said(notices_in(locale).queue)
        except StorageError:
            return said(NOT_TAKEN)
        return said(refusal_sentence(receipt, locale=locale) or SEARCHING)

    async def _lookup(self, used: Typed, passages: Passages) -> Reply:
        words = plain_text(used.text, "")
        if shows_nothing(words):
            return said(f"Write what to look for behind {used.name}.")
        try:
            found = await passages.of(
                words,
                platform=Platform.SLACK,
                tenant=TenantId(used.team_id),
                channel_id=used.channel_id,
            )
        except FootnoteError as error:
            return said(to_mrkdwn(sentence_for(error)))
        return listed(found)


def asked_by_command(used: Typed, words: str, *, locale: str) -> IncomingQuestion:
    """What one person sees alone is a conversation of its own."""
    now, split = datetime.now(UTC), split_message(words)
    return IncomingQuestion(
        key=ConversationKey(
            platform=Platform.SLACK,
            tenant=TenantId(used.team_id),
            channel_id=used.channel_id,
            thread_id=used.trigger_id,
        ),
        message_id=used.trigger_id,
        asker_id=used.user_id,
        question=Question(message=split.question, context=split.context),
        heard_at=now,
        position=f"{now.timestamp():.6f}",
        address={RESPONSE_URL: used.response_url},
        original_length=split.original_length,
        locale=locale,
        private=True,
    )


def listed(results: Sequence[SearchResult]) -> Reply:
    """Passages with their links, best first."""
    if not results:
        return said(NOTHING_FOUND)
    lines = [f"{result.rank}. {place(result)}\n> {excerpt(result.text)}" for result in results]
    return said(FOUND, sections(lines))


def place(result: SearchResult) -> str:
    title = whereabouts(result.page_title, result.section_heading) or result.source_file
    shown = link(title, result.page_url)
    return shown if result.page_url else f"{shown} ({as_code(result.source_file)})"


def excerpt(text: str) -> str:
    return escaped(one_line(text, MAX_EXCERPT))
