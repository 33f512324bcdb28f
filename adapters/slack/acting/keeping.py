"""Asks staff in Slack whether a reply is to be kept as an answer, and does what they decide."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from adapters.slack.acting.buttons import button
from adapters.slack.acting.private import Whispers
from adapters.slack.acting.staff_members import StaffMembers
from adapters.slack.answering.blocks import section
from adapters.slack.answering.markdown import escaped
from adapters.slack.calling.people import People
from adapters.slack.calling.team import Team
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.events import Deleted, Edited, Heard
from adapters.slack.hearing.shapes import id_in, part
from adapters.slack.installing.teams import Teams
from adapters.staff_answers import KEEP, LABELS, WITHDRAW, Decisions, KeepsAnswers, asking, choices
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import FootnoteError, UpstreamError
from rag_core.staff.answer import Refused, StaffAnswer, StaffReply, may_answer

log = logging.getLogger(__name__)

PREFIX = "staff-"


class Keeping:
    """Staff are the members and groups whom SLACK_ASK_PERSON names, and admins."""

    def __init__(
        self,
        staffing: KeepsAnswers,
        *,
        staff: StaffMembers,
        people: People,
        teams: Teams,
        whispers: Whispers,
        errands: Errands,
    ) -> None:
        self._staffing = staffing
        self._decisions = Decisions(staffing)
        self._staff = staff
        self._people = people
        self._teams = teams
        self._whispers = whispers
        self._errands = errands

    async def heard(self, team: Team, heard: Heard) -> bool:
        """Whether this is a reply of the staff to a question that the documents left open; then
        it is no question for us."""
        key, author = heard.question.key, heard.question.asker_id
        if heard.addressed or heard.from_bot or not heard.in_thread or not may_answer(heard.text):
            return False
        refused = await self._staffing.refused_in(key)
        if refused is None or refused.asker_id == author:
            return False
        if not await self._staff.include(key.tenant, author):
            return False
        self._errands.start(self._ask(team, heard, refused))
        return True

    async def changed(self, change: Edited | Deleted) -> None:
        """A kept answer says what its message says, and goes with it."""
        if isinstance(change, Deleted):
            await self._staffing.deleted(change.identity)
        else:
            await self._staffing.edited(change.question.identity, change.text)

    async def pressed(self, body: Mapping[str, Any], act: str, answer_id: UUID) -> None:
        user, tenant = id_in(body, "user"), TenantId(id_in(body, "team"))
        decided = await self._decisions.decide(
            act.removeprefix(PREFIX),
            answer_id,
            by=user,
            at=(Platform.SLACK, tenant),
            is_admin=await self._people.is_admin(tenant, user),
        )
        left = [WITHDRAW] if act == f"{PREFIX}{KEEP}" else []
        self._errands.start(self._tell(body, escaped(decided), buttons(left, answer_id)))

    async def _tell(self, body: Mapping[str, Any], told: str, below: list[dict[str, Any]]) -> None:
        """In the place of the question, so that nobody presses it twice."""
        url = str(body.get("response_url") or "")
        if url and part(body, "container").get("is_ephemeral"):
            try:
                await self._whispers.respond(
                    url, replaces=True, text=told, blocks=[section(told), *below]
                )
            except UpstreamError as error:
                log.info("a decision was not told", extra={"cause": str(error)})
        else:
            await self._whispers.tell(body, told)

    async def _ask(self, team: Team, heard: Heard, refused: Refused) -> None:
        """Privately, in the thread; a question that does not arrive is none."""
        try:
            answer = await self._staffing.offer(await self._reply(team, heard), refused)
            if answer is not None:
                await self._whisper(team, heard, answer)
        except FootnoteError as error:
            log.warning("staff were not asked", extra={"cause": type(error).__name__})

    async def _whisper(self, team: Team, heard: Heard, answer: StaffAnswer) -> None:
        words = escaped(asking(answer))
        await team.call(
            "chat.postEphemeral",
            channel=heard.question.key.channel_id,
            user=heard.question.asker_id,
            thread_ts=heard.question.key.thread_id,
            text=words,
            blocks=[section(words), *buttons(choices(answer), answer.id)],
        )

    async def _reply(self, team: Team, heard: Heard) -> StaffReply:
        key, author = heard.question.key, heard.question.asker_id
        ts = heard.question.message_id
        return StaffReply(
            key=key,
            message_id=ts,
            author_id=author,
            author=await self._people.name_of(key.tenant, author),
            text=heard.text,
            said_at=datetime.fromtimestamp(float(ts), UTC),
            link=await link_to(team, key.channel_id, ts),
        )


def buttons(acts: Sequence[str], answer_id: UUID) -> list[dict[str, Any]]:
    """One row of them; none where there is nothing to decide."""
    elements = [
        button(f"{PREFIX}{act}", LABELS[act], f"{PREFIX}{act} {answer_id.hex}") for act in acts
    ]
    return [{"type": "actions", "elements": elements}] if elements else []


async def link_to(team: Team, channel: str, ts: str) -> str:
    """Where the message stands; none where Slack does not say."""
    try:
        answer = await team.call("chat.getPermalink", channel=channel, message_ts=ts)
    except UpstreamError as error:
        log.info("a message has no link", extra={"cause": str(error)})
        return ""
    return str(answer.get("permalink") or "")
