"""What happens when somebody presses a button below an answer, or sends its form."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from adapters.presses import Press
from adapters.review import NOT_SAVED, NOT_YOURS, THANKS, Review
from adapters.slack.acting.buttons import KEEP, SHARE, Pressed, read_press, reason_form, reason_in
from adapters.slack.acting.evidence import HEADING, evidence
from adapters.slack.acting.keeping import PREFIX, Keeping
from adapters.slack.acting.private import Whispers
from adapters.slack.acting.sharing import Sharing
from adapters.slack.acting.staff import Staff
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.shapes import id_in, part
from adapters.slack.installing.teams import Teams
from rag_core.conversation.key import Platform, TenantId
from rag_core.desk.incoming import MessageIdentity
from rag_core.errors import StorageError, UpstreamError

log = logging.getLogger(__name__)

NOT_KNOWN = "I do not know this button any more."
Body = Mapping[str, Any]
Act = Callable[[Body, Pressed], Awaitable[None]]


class Presses:
    """Rates, shows evidence, calls people and deletes; tells whoever pressed, and nobody else.

    What must not be lost is stored before Slack is answered; what is only said comes after."""

    def __init__(
        self,
        *,
        review: Review,
        staff: Staff,
        sharing: Sharing,
        teams: Teams,
        whispers: Whispers,
        errands: Errands,
        keeping: Keeping | None = None,
    ) -> None:
        self._review = review
        self._staff = staff
        self._sharing = sharing
        self._teams = teams
        self._whispers = whispers
        self._errands = errands
        self._keeping = keeping
        self._acts: Mapping[str, Act] = {
            Press.HELPFUL: self._helped,
            Press.NOT_HELPFUL: self._did_not_help,
            Press.EVIDENCE: self._show,
            Press.PERSON: self._call,
            Press.RESOLVED: self._resolved,
            Press.AGAIN: self._again,
            Press.DELETE: self._delete,
            SHARE: self._share,
            KEEP: self._keep,
        }

    async def pressed(self, body: Body) -> None:
        pressed = read_press(body["actions"][0])
        if pressed and self._keeping and pressed.act.startswith(PREFIX):
            await self._keeping.pressed(body, pressed.act, pressed.answer_id)
            return
        act = self._acts.get(pressed.act) if pressed else None
        if pressed is None or act is None:
            self._say(body, NOT_KNOWN)
        else:
            await act(body, pressed)

    async def sent(self, body: Body) -> None:
        """The form with the reason; nothing is said, because it closes."""
        found = reason_in(part(body, "view"))
        if found is not None:
            answer_id, reason = found
            asker = id_in(body, "user")
            said = await self._review.rate(answer_id, asker_id=asker, helpful=False, reason=reason)
            if said == NOT_SAVED:
                raise StorageError(said)

    async def _helped(self, body: Body, pressed: Pressed) -> None:
        asker = id_in(body, "user")
        self._say(body, await self._review.rate(pressed.answer_id, asker_id=asker, helpful=True))

    async def _did_not_help(self, body: Body, pressed: Pressed) -> None:
        """The rating counts even if the form is put away; the form comes first, while it may."""
        team = self._teams.of(id_in(body, "team"))
        self._errands.start(self._ask_why(team.call, body, pressed))
        asker = id_in(body, "user")
        await self._review.rate(pressed.answer_id, asker_id=asker, helpful=False)

    async def _ask_why(self, call: Any, body: Body, pressed: Pressed) -> None:
        form = reason_form(pressed.answer_id)
        try:
            await call("views.open", trigger_id=body.get("trigger_id"), view=form)
        except UpstreamError as error:
            log.info("a form was not opened", extra={"cause": str(error)})
            await self._whispers.tell(body, THANKS)

    async def _show(self, body: Body, pressed: Pressed) -> None:
        found = await self._review.shown(
            pressed.answer_id, platform=Platform.SLACK, tenant=TenantId(id_in(body, "team"))
        )
        if isinstance(found, str):
            self._say(body, found)
        else:
            self._errands.start(self._whispers.tell(body, HEADING, evidence(found)))

    async def _call(self, body: Body, pressed: Pressed) -> None:
        self._errands.start(self._staff.call(body, pressed))

    async def _resolved(self, body: Body, pressed: Pressed) -> None:
        self._errands.start(self._staff.resolved(body, pressed))

    async def _again(self, body: Body, pressed: Pressed) -> None:
        asker = id_in(body, "user")
        self._say(body, await self._review.ask_again(pressed.answer_id, asker_id=asker))

    async def _delete(self, body: Body, pressed: Pressed) -> None:
        asker = id_in(body, "user")
        identity = MessageIdentity(
            platform=Platform.SLACK.value,
            tenant=id_in(body, "team"),
            channel_id=id_in(body, "channel"),
            message_id=pressed.message_id,
        )
        told = (
            await self._review.delete(identity, asker_id=asker)
            if asker == pressed.asker_id
            else NOT_YOURS
        )
        if told:
            self._say(body, told)

    async def _share(self, body: Body, pressed: Pressed) -> None:
        self._errands.start(self._sharing.share(body, pressed))

    async def _keep(self, body: Body, pressed: Pressed) -> None:
        self._errands.start(self._sharing.keep(body, pressed))

    def _say(self, body: Body, sentence: str) -> None:
        self._errands.start(self._whispers.tell(body, sentence))
