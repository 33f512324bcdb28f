"""Posts the parts of an answer into their thread, and finds, changes and removes them."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from adapters.answered_threads import AnsweredThreads, began_of
from adapters.slack.acting.private import Whispers
from adapters.slack.answering.detour import Detour, leads_elsewhere, standing_in
from adapters.slack.answering.drafts import Drafts
from adapters.slack.answering.lost_drafts import LostDrafts
from adapters.slack.answering.own_posts import GONE, marked_as, posted_as, unnamed
from adapters.slack.answering.status import shown
from adapters.slack.answering.uploads import FILE, send_file
from adapters.slack.calling.calls import SERVICE
from adapters.slack.calling.patience import is_far, patiently
from adapters.slack.calling.team import MISSING_SCOPE, Team, reason_of
from adapters.slack.installing.teams import Teams
from rag_core.conversation.key import TenantId
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import NoProgress, Progress
from rag_core.errors import PlaceRefused, UpstreamError, UpstreamRejected

log = logging.getLogger(__name__)

FIRST = 0
"""The number of an answer's first part: the one that its draft becomes."""
REACT, MUTE = "reactions.add", "mute"
STREAMING = "streaming_state_conflict"
"""Slack's word on a message whose stream nobody has stopped."""


class SlackReplies:
    """The thread of a question, as a place to answer in."""

    def __init__(
        self,
        *,
        teams: Teams,
        threads: AnsweredThreads,
        drafts: Drafts,
        lost_drafts: LostDrafts,
        whispers: Whispers,
        begun: Callable[[IncomingQuestion], None],
        serves: Callable[[TenantId], Awaitable[bool]],
        write_seconds: float,
    ) -> None:
        self._teams = teams
        self._threads = threads
        self._drafts = drafts
        self._lost_drafts = lost_drafts
        self._whispers = whispers
        self._detour = Detour(teams)
        self._begun = begun
        self._serves = serves
        self._write_seconds = write_seconds

    @asynccontextmanager
    async def progress(self, question: IncomingQuestion) -> AsyncIterator[Progress]:
        self._begun(question)
        if question.private or not await self._serves(question.key.tenant):
            yield NoProgress()
            return
        team = self._teams.of(question.key.tenant)
        async with shown(
            team, question, self._drafts, every_seconds=self._write_seconds
        ) as progress:
            yield progress

    async def _check_workspace(self, question: IncomingQuestion) -> None:
        """What was asked before a workspace was denied is not answered after it."""
        if not await self._serves(question.key.tenant):
            raise PlaceRefused(SERVICE, "the workspace is not allowed")

    def open_notice(self, question: IncomingQuestion) -> bool:
        """What one person sees alone goes by itself."""
        if question.private:
            return True
        try:
            budget = self._teams.of(question.key.tenant).budget
        except UpstreamError:  # the app is not there any more
            return False
        return budget.open_notice(question.message_id)

    def close_notice(self, question: IncomingQuestion) -> None:
        if not question.private:
            with contextlib.suppress(UpstreamError):  # the app is not there any more
                self._teams.of(question.key.tenant).budget.close_notice(question.message_id)

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        await self._check_workspace(question)
        if question.private:
            return await self._whispers.post(question, part)
        if (reason := self._detour.reason_for(question)) is not None:
            return await self._detour.post(question, part, reason)
        try:
            ts = await patiently(lambda: self._placed(question, part))
        except PlaceRefused as refusal:
            if reason_of(refusal) == MISSING_SCOPE and part.number == FIRST:
                await self._sign_mute(question)
            return await self._detour.post(question, part, refusal)
        await self._remember(question, part, ts)
        return ts

    async def _sign_mute(self, question: IncomingQuestion) -> None:
        """Where the app may not write, a sign at the question shows that it was heard."""
        team = self._teams.of(question.key.tenant)
        if not team.offers(REACT) or not team.budget.take(REACT):
            return
        place = {"channel": question.key.channel_id, "timestamp": question.message_id}
        try:
            await team.call_now(REACT, **place, name=MUTE)
        except UpstreamError as error:
            log.info("no sign at a question", extra={"cause": str(error)})

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        """Slack has no idempotency keys, so a lost post is looked up by its metadata."""
        if question.private:
            return None  # nobody can look up what one person sees alone
        team = self._teams.of(question.key.tenant)
        try:
            found = await posted_as(team, question, part.key)
        except PlaceRefused as refusal:
            if not leads_elsewhere(question, refusal):
                raise
            return None  # nobody can look there any more: it is posted where its asker sees it
        if found is not None:
            await self._remember(question, part, found)
        return found

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        """Let a message say something else."""
        await self._check_workspace(question)
        if question.private:
            await self._whispers.post(question, part)
        elif part.external_id is not None and not part.external_id.startswith(FILE):
            await self._write(question, part, part.external_id)

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        if question.private:
            return
        await self._delete(question.key.tenant, question.key.channel_id, external_id)
        self.close_notice(question)

    async def clear(self, question: IncomingQuestion) -> None:
        """Take away what is written so far of an answer that will not be given."""
        draft = None if question.private else await self._drafts.of(question.identity)
        if draft is None or draft.is_answer:
            return
        if ts := draft.ts or await self._lost_draft(question):
            await self._delete(question.key.tenant, question.key.channel_id, ts)
        else:
            await self._lost_drafts.note(question)
        await self._drafts.never_opened(question.identity)

    async def _lost_draft(self, question: IncomingQuestion) -> str | None:
        try:
            return await unnamed(self._teams.of(question.key.tenant), question)
        except UpstreamRejected as error:
            if error.retryable:
                raise
            return None  # its thread has gone with the question

    async def _remember(self, question: IncomingQuestion, part: OutgoingPart, ts: str) -> None:
        await self._threads.remember(question.key, message_id=ts, began=began_of(question))
        if part.number == FIRST:
            await self._drafts.answered(question.identity, ts)

    async def _placed(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        """The whole answer takes the place of its draft, where there is one. A draft that is not
        there may still come to be: the answer does not wait for it, and it is taken away then."""
        draft = await self._drafts.of(question.identity) if part.number == FIRST else None
        if draft is None:
            return await self._post(question, part)
        ts = draft.ts or await unnamed(self._teams.of(question.key.tenant), question)
        if ts is None:
            await self._lost_drafts.note(question)
        elif await self._completed(question, part, ts):
            return ts
        return await self._post(question, part)

    async def _completed(self, question: IncomingQuestion, part: OutgoingPart, ts: str) -> bool:
        """Write the answer over its draft; one that cannot be edited, or not soon, is taken away.

        What a storm of restarts has left would wait for minutes; deletions are counted apart."""
        budget = self._teams.of(question.key.tenant).budget
        try:
            await self._write(question, part, ts)
        except UpstreamRejected as error:
            if reason_of(error) not in GONE and not is_far(error):
                raise
            log.info("a draft cannot become its answer", extra={"cause": str(error)})
            await self._delete(question.key.tenant, question.key.channel_id, ts)
            return False
        finally:
            budget.close_draft(question.message_id)
        return True

    async def _post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        team, key = self._teams.of(question.key.tenant), question.key
        payload = json.loads(part.payload)
        if "file" in payload:
            return await send_file(team, question, payload, key=part.key)
        return await team.post(
            channel=key.channel_id,
            thread_ts=key.thread_id,
            metadata=marked_as(part.key),
            **message_in(payload),
        )

    async def _write(self, question: IncomingQuestion, part: OutgoingPart, ts: str) -> None:
        team = self._teams.of(question.key.tenant)
        channel, ts = standing_in(question.key.channel_id, ts)
        change = {"channel": channel, "ts": ts, "metadata": marked_as(part.key)}
        change |= message_in(json.loads(part.payload))
        try:
            await team.call_soon("chat.update", **change)
        except UpstreamRejected as error:
            if reason_of(error) != STREAMING:
                raise
            await stop_stream(team, channel, ts)
            await team.call_soon("chat.update", **change)

    async def _delete(self, tenant: TenantId, channel: str, ts: str) -> None:
        team = self._teams.of(tenant)
        channel, ts = standing_in(channel, ts)
        try:
            if ts.startswith(FILE):
                await team.call_soon("files.delete", file=ts.removeprefix(FILE))
            else:
                await team.call_soon("chat.delete", channel=channel, ts=ts)
        except UpstreamRejected as error:
            if reason_of(error) not in GONE:
                raise


async def stop_stream(team: Team, channel: str, ts: str) -> None:
    """A stream that a lost process has left; one that has ended by now is fine."""
    try:
        await team.call_soon("chat.stopStream", channel=channel, ts=ts)
    except UpstreamRejected as error:
        if error.retryable:
            raise


def message_in(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Without blocks, text alone: and no blocks of an earlier version beside it."""
    return {"text": payload["text"], "blocks": payload.get("blocks", [])}
