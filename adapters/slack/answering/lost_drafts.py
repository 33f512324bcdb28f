"""Half answers that may still appear beside the answer: their opening had no known outcome."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from time import time

from adapters.slack.answering.drafts import Drafts
from adapters.slack.answering.own_posts import GONE, unnamed
from adapters.slack.calling.team import Team, reason_of
from adapters.slack.installing.teams import Teams
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import FootnoteError, UpstreamRejected
from rag_core.ports import MarkerStore

log = logging.getLogger(__name__)

MARKER = "slack:lost-drafts"
MOST = 200
"""At once; where Slack loses more, the oldest are given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostDraft:
    """A message that Slack may still make of a request that we got no answer to."""

    tenant: str
    channel: str
    thread: str
    after: str
    """The message that asked: the draft stands somewhere below it."""
    noted_at: float
    looks: int = 0
    """How often it was looked for in vain."""

    def is_same(self, other: LostDraft) -> bool:
        return (self.tenant, self.channel, self.after) == (
            other.tenant,
            other.channel,
            other.after,
        )

    @property
    def question(self) -> IncomingQuestion:
        """As much of the question as is needed to find its thread."""
        return IncomingQuestion(
            key=ConversationKey(
                platform=Platform.SLACK,
                tenant=TenantId(self.tenant),
                channel_id=self.channel,
                thread_id=self.thread,
            ),
            message_id=self.after,
            asker_id="unknown",
            question=Question(message="(not kept)"),
            heard_at=datetime.fromtimestamp(self.noted_at, UTC),
            position=self.after,
        )


class LostDrafts:
    """Looks for each again and again, and takes it away when it appears.

    They are kept in the database: a restart goes on looking. After the last look a draft is given
    up: Slack does not carry out a request that late."""

    def __init__(
        self,
        markers: MarkerStore,
        *,
        teams: Teams,
        drafts: Drafts,
        look_after: Sequence[float],
        clock: Callable[[], float] = time,
    ) -> None:
        self._markers = markers
        self._teams = teams
        self._drafts = drafts
        self._look_after = look_after
        self._clock = clock
        self._lost: list[LostDraft] | None = None
        self._changing = asyncio.Lock()
        self._news = asyncio.Event()

    async def note(self, question: IncomingQuestion) -> None:
        """Said before the answer is posted beside it; StorageError where it cannot be kept."""
        lost = LostDraft(
            tenant=question.key.tenant,
            channel=question.key.channel_id,
            thread=question.key.thread_id,
            after=question.message_id,
            noted_at=self._clock(),
        )
        async with self._changing:
            known = await self._known()
            if not any(lost.is_same(each) for each in known):
                await self._keep([*known, lost][-MOST:])
        self._news.set()

    async def watch(self) -> None:
        """Until cancelled: look at each when it is time to."""
        while True:
            self._news.clear()
            pause: float | None = None
            try:
                pause = await self._look_at_due()
            except FootnoteError as error:
                log.warning("lost drafts not looked for", extra={"cause": str(error)})
                pause = self._look_after[0]
            except Exception:  # the next look may do better, and no answer waits for it
                log.exception("looking for lost drafts failed by a defect")
                pause = self._look_after[-1]
            try:
                async with asyncio.timeout(pause):
                    await self._news.wait()
            except TimeoutError:
                pass

    async def _look_at_due(self) -> float | None:
        """How long until the next one is due; None where there is none."""
        async with self._changing:
            known = list(await self._known())
        for lost in known:
            if self._due_at(lost) <= self._clock():
                later = await self._looked_at(lost)
                async with self._changing:
                    kept = [each for each in await self._known() if not lost.is_same(each)]
                    await self._keep([*kept, later] if later else kept)
        due = [self._due_at(each) for each in self._lost or ()]
        return max(0.0, min(due) - self._clock()) if due else None

    def _due_at(self, lost: LostDraft) -> float:
        return lost.noted_at + self._look_after[min(lost.looks, len(self._look_after) - 1)]

    async def _looked_at(self, lost: LostDraft) -> LostDraft | None:
        """What is left to do; None where the draft is gone or will not come."""
        about = {"channel": lost.channel, "thread": lost.thread}
        try:
            if await self._taken_away(self._teams.of(lost.tenant), lost):
                log.info("lost draft removed", extra=about)
                return None
        except UpstreamRejected as error:
            if not error.retryable:  # the thread is gone, or we are not let in any more
                log.info("lost draft given up", extra=about | {"cause": str(error)})
                return None
        except FootnoteError as error:
            log.info("lost draft not looked for", extra=about | {"cause": str(error)})
        if lost.looks + 1 >= len(self._look_after):
            return None
        return replace(lost, looks=lost.looks + 1)

    async def _taken_away(self, team: Team, lost: LostDraft) -> bool:
        ts = await unnamed(team, lost.question, but_not=self._drafts.is_open)
        if ts is None:
            return False
        try:
            await team.call_soon("chat.delete", channel=lost.channel, ts=ts)
        except UpstreamRejected as error:
            if reason_of(error) not in GONE:
                raise
        return True

    async def _known(self) -> Sequence[LostDraft]:
        if self._lost is None:
            stored = await self._markers.get(MARKER)
            self._lost = [LostDraft(**each) for each in json.loads(stored)] if stored else []
        return self._lost

    async def _keep(self, lost: Sequence[LostDraft]) -> None:
        await self._markers.set(MARKER, json.dumps([asdict(each) for each in lost]))
        self._lost = list(lost)
