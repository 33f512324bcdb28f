"""A message that grows into an answer: streamed where Slack offers that, edited where not."""

from __future__ import annotations

import logging

from adapters.slack.answering.drafts import Drafts
from adapters.slack.answering.markdown import fallback, growing_part
from adapters.slack.calling.calls import told
from adapters.slack.calling.team import Team
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamError, UpstreamRejected

log = logging.getLogger(__name__)

SHOWN_LIMIT = 9_000
"""What is longer goes on in messages that are posted when the answer is whole."""
FOR_FINAL = 25
"""Edits of a minute that are left to whole answers."""


class Writer:
    """Shows the text so far; nothing of the answer depends on it."""

    def __init__(self, team: Team, question: IncomingQuestion, drafts: Drafts) -> None:
        self._team = team
        self._question = question
        self._drafts = drafts
        self._ts: str | None = None
        self._sent = ""
        self._streams = False
        self._over = False

    async def take_over(self) -> None:
        """Go on in the message that an earlier attempt left; leave alone what is an answer."""
        draft = await self._drafts.of(self._question.identity)
        if draft is None:
            return
        self._ts = draft.ts
        self._over = draft.is_answer or draft.ts is None

    async def show(self, text: str) -> None:
        """Show the whole text so far, as soon as there is room for a call."""
        markdown = shown_part(text)
        if self._over or not markdown or markdown == self._sent:
            return
        try:
            if self._ts is None:
                await self._begin(markdown)
            elif self._streams:
                await self._append(markdown)
            else:
                await self._replace(markdown)
        except UpstreamError as error:
            await self._not_shown(error)

    async def end(self) -> None:
        """Slack shows a stream as unfinished until it is stopped."""
        if self._streams:
            await self._leave_stream()

    async def _begin(self, markdown: str) -> None:
        if not self._team.budget.open_draft(self._question.message_id):
            return
        identity = self._question.identity
        try:
            self._ts = await self._opened(markdown)
        except UpstreamRejected:  # any other way it may be there, and is looked for in the end
            self._team.budget.close_draft(self._question.message_id)
            await self._drafts.never_opened(identity)
            raise
        self._sent = markdown
        await self._drafts.opened(identity, self._ts)

    async def _opened(self, markdown: str) -> str:
        """A stream where there is room for one, else a message to be edited."""
        streams = self._team.offers("chat.startStream") and self._team.budget.open_stream()
        await self._drafts.opening(self._question.identity)
        if not streams:
            return await self._post(markdown)
        try:
            ts = await self._start(markdown)
        except BaseException:
            self._team.budget.close_stream()
            raise
        self._streams = True
        return ts

    async def _start(self, markdown: str) -> str:
        key = self._question.key
        started = await self._team.call_now(
            "chat.startStream",
            channel=key.channel_id,
            thread_ts=key.thread_id,
            recipient_team_id=key.tenant,
            recipient_user_id=self._question.asker_id,
            markdown_text=markdown,
        )
        return told(started, "ts")

    async def _post(self, markdown: str) -> str:
        """Without our metadata, which only whole answers carry: so a draft is told from them."""
        key = self._question.key
        return await self._team.post(
            channel=key.channel_id, thread_ts=key.thread_id, **message_of(markdown)
        )

    async def _append(self, markdown: str) -> None:
        if not markdown.startswith(self._sent):  # what was shown is not what is true now
            await self._leave_stream()
            await self._replace(markdown)
        elif self._team.budget.take("chat.appendStream"):
            await self._team.call_now(
                "chat.appendStream",
                channel=self._question.key.channel_id,
                ts=self._ts,
                markdown_text=markdown[len(self._sent) :],
            )
            self._sent = markdown

    async def _replace(self, markdown: str) -> None:
        budget = self._team.budget
        if budget.take("chat.update", leaving=max(FOR_FINAL, budget.promised)):
            await self._team.call_now(
                "chat.update",
                channel=self._question.key.channel_id,
                ts=self._ts,
                **message_of(markdown),
            )
            self._sent = markdown

    async def _leave_stream(self) -> None:
        self._streams = False
        self._team.budget.close_stream()
        try:
            await self._team.call(
                "chat.stopStream", channel=self._question.key.channel_id, ts=self._ts
            )
        except UpstreamError as error:
            log.debug("a stream had ended before", extra={"cause": str(error)})

    async def _not_shown(self, error: UpstreamError) -> None:
        log.debug("a text was not shown", extra={"cause": str(error)})
        refused = isinstance(error, UpstreamRejected)
        if refused and error.retryable:
            return
        if self._streams:  # it has expired, or nobody knows what of it arrived: edit from now on
            await self._leave_stream()
        elif self._ts is None:
            # Where Slack offers no streams the next text is posted; else the end finds out.
            self._over = not refused or self._team.offers("chat.startStream")
        else:
            self._over = refused


def shown_part(text: str) -> str:
    return growing_part(text, SHOWN_LIMIT).rstrip()


def message_of(markdown: str) -> dict[str, object]:
    return {"text": fallback(markdown, 3_000), "blocks": [{"type": "markdown", "text": markdown}]}
