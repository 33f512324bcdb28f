"""Who belongs on Slack: the gate that every event, command and press passes."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from adapters.admissions import Admissions
from adapters.slack.acting.private import Whispers
from adapters.slack.acting.typed import Reply, said
from adapters.slack.calling.team import Team
from adapters.slack.hearing.bolt import Body, Ears, Hears
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.events import Heard, heard_in, word
from adapters.slack.hearing.shapes import part
from adapters.slack.installing.teams import Teams, team_id_in
from rag_core.conversation.key import TenantId
from rag_core.conversation.tenants import Trust
from rag_core.errors import FootnoteError, UpstreamError

log = logging.getLogger(__name__)

NOT_ALLOWED = (
    "I'm not set up for this workspace yet. Whoever runs me has to allow it first:"
    " `footnote servers allow {team}`."
)
OUTSIDE = (
    "I answer members of this workspace, and you are here from another one. Whoever runs me can"
    " allow yours: `footnote servers allow {team}`."
)
DIRECT = "D"
"""The ids of direct messages begin so."""
MOST_FOREIGN = 100
TOLD_SECONDS = 3_600.0
"""Somebody from outside is not told again meanwhile."""

Answers = Callable[[Body], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why something that came in is not for us."""

    sentence: str = ""
    """Empty where there is nobody whom we could tell."""
    from_outside: bool = False
    """A member of another workspace in a shared channel, not a workspace that is not served."""


class Membership:
    """Admits what comes from workspaces that are served, by their own members.

    In channels that workspaces share, members of the others are answered only where their own
    workspace is allowed too."""

    def __init__(
        self,
        admissions: Admissions,
        *,
        teams: Teams,
        whispers: Whispers,
        errands: Errands,
        has_own_token: bool,
    ) -> None:
        """`has_own_token`: the operator's settings hold the token of the one workspace."""
        self._admissions = admissions
        self._teams = teams
        self._whispers = whispers
        self._errands = errands
        self._has_own_token = has_own_token
        self._told: dict[tuple[str, str], float] = {}
        self._foreign: set[str] = set()

    async def begin(self) -> None:
        """Once it is known who we are: the workspaces that are there already are noted."""
        try:
            for team in self._teams.all() if self._has_own_token else ():
                await self._admissions.vouch(team.workspace.team_id, team.workspace.name)
            await self._admissions.load()
        except FootnoteError as error:
            log.warning("workspaces not noted", extra={"cause": str(error)})

    async def serves(self, tenant: TenantId) -> bool:
        """Whether a workspace is served; the one whose token the settings hold is, until it is
        denied."""
        trust = await self._admissions.trust_of(tenant)
        return trust is Trust.ALLOWED or (self._has_own_token and trust is not Trust.DENIED)

    def guarded(self, ears: Ears) -> Ears:
        """The same ears, which hear only who belongs. That the app was removed is heard always;
        messages are guarded where they are read, because they are read afterwards as well."""
        return replace(
            ears,
            pane_opened=self._silently(ears.pane_opened),
            home_opened=self._silently(ears.home_opened),
            form_sent=self._silently(ears.form_sent),
            pressed=self._telling(ears.pressed),
            shortcut=self._telling(ears.shortcut),
            command=self._replying(ears.command) if ears.command else None,
        )

    def hearing(self, hears: Hears) -> Hears:
        async def hear(body: Body) -> None:
            refusal = await self.refusal(body)
            if refusal is None:
                await hears(body)
            else:
                await self._tell_asker(body, refusal)

        return hear

    async def refusal(self, body: Mapping[str, Any]) -> Refusal | None:
        """None for whoever belongs."""
        installed_in = team_id_in(body)
        workspace = self._teams.of(installed_in).workspace
        if part(body, "event") and installed_in not in {"", workspace.team_id}:
            self._note_foreign(installed_in)
            return Refusal()
        if not await self.serves(workspace.team_id):
            return Refusal(sentence=NOT_ALLOWED.format(team=workspace.team_id))
        home = home_of_actor(body)
        insiders = {"", workspace.team_id, workspace.enterprise_id}
        if home in insiders or await self._admissions.admits(TenantId(home)):
            return None
        return Refusal(sentence=OUTSIDE.format(team=home), from_outside=True)

    def forget(self, asker_id: str | None) -> None:
        """Drop what is remembered of one person, or of everybody."""
        self._told = {
            each: until for each, until in self._told.items() if asker_id not in (None, each[1])
        }

    def _note_foreign(self, team_id: str) -> None:
        """The app's socket brings events of every workspace that somebody installed it in."""
        if team_id not in self._foreign and len(self._foreign) < MOST_FOREIGN:
            self._foreign.add(team_id)
            log.warning("another workspace's events are not served", extra={"tenant": team_id})

    def _silently(self, hears: Hears | None) -> Hears | None:
        if hears is None:
            return None

        async def hear(body: Body) -> None:
            if await self.refusal(body) is None:
                await hears(body)

        return hear

    def _telling(self, hears: Hears | None) -> Hears | None:
        """Each time: who presses a button waits for something to happen."""
        if hears is None:
            return None

        async def hear(body: Body) -> None:
            refusal = await self.refusal(body)
            if refusal is None:
                await hears(body)
            else:
                self._errands.offer(self._whispers.tell(body, refusal.sentence))

        return hear

    def _replying(self, command: Answers) -> Answers:
        async def use(body: Body) -> Reply:
            refusal = await self.refusal(body)
            return await command(body) if refusal is None else said(refusal.sentence)

        return use

    async def _tell_asker(self, body: Body, refusal: Refusal) -> None:
        """Whoever plainly turned to us: a workspace is told once, a person from outside rarely."""
        if not refusal.sentence:
            return
        team = self._teams.of(team_id_in(body))
        heard = heard_in(body, team.workspace, heard_at=datetime.now(UTC))
        if not isinstance(heard, Heard) or not heard.addressed or heard.from_bot:
            return
        if not refusal.from_outside:
            self._errands.offer(self._tell_workspace(team, heard, refusal.sentence))
            return
        key = heard.question.key
        who = (key.channel_id, heard.question.asker_id)
        if monotonic() < self._told.get(who, 0.0):
            return
        self._told = {each: until for each, until in self._told.items() if until > monotonic()}
        self._told[who] = monotonic() + TOLD_SECONDS
        self._errands.offer(self._tell_outsider(team, heard, refusal.sentence))

    async def _tell_workspace(self, team: Team, heard: Heard, sentence: str) -> None:
        tenant = team.workspace.team_id
        await self._admissions.meet(tenant, team.workspace.name)
        if not await self._admissions.claim_notice(tenant):
            return
        key = heard.question.key
        try:
            await team.post(channel=key.channel_id, thread_ts=key.thread_id, text=sentence)
        except UpstreamError:
            await self._admissions.release_notice(tenant)
            raise

    async def _tell_outsider(self, team: Team, heard: Heard, sentence: str) -> None:
        key = heard.question.key
        if key.channel_id.startswith(DIRECT):
            await team.post(channel=key.channel_id, thread_ts=key.thread_id, text=sentence)
            return
        await team.call(
            "chat.postEphemeral",
            channel=key.channel_id,
            user=heard.question.asker_id,
            text=sentence,
        )


def home_of_actor(body: Mapping[str, Any]) -> str:
    """The workspace or organisation that somebody belongs to who did this; empty where Slack does
    not say, as it need not outside of shared channels."""
    event = part(body, "event")
    if not event:
        return str(part(body, "user").get("team_id") or team_id_in(body))
    acting = part(event, "message") or event
    homes = (word(acting, name) for name in ("user_team", "source_team", "team"))
    return next((home for home in homes if home), "")
