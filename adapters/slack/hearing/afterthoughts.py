"""What people do to a question after they have asked it: edit, delete, take back."""

from __future__ import annotations

from adapters.never_mind import LastAsked
from adapters.platform import RevisesQuestions
from adapters.slack.hearing.errands import Errands
from adapters.slack.installing.teams import Teams
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity

TAKEN_BACK = "ok_hand"


class Afterthoughts:
    """Tells the desk, which knows whether it ever was a question."""

    def __init__(self, *, desk: RevisesQuestions, teams: Teams, errands: Errands) -> None:
        self._desk = desk
        self._teams = teams
        self._errands = errands
        self._last = LastAsked()

    def asked(self, question: IncomingQuestion) -> None:
        self._last.remember(question)

    def forget(self, asker_id: str | None) -> None:
        self._last.forget(asker_id)

    async def edited(self, question: IncomingQuestion) -> None:
        await self._desk.revise(question)

    async def withdrawn(self, identity: MessageIdentity, *, asker_id: str | None = None) -> bool:
        return await self._desk.withdraw(identity, asker_id=asker_id)

    async def never_mind(self, said: IncomingQuestion) -> None:
        """The asker's last question there; the words that take it back get a small sign."""
        meant = self._last.taken_back(said)
        if meant is not None and await self.withdrawn(meant, asker_id=said.asker_id):
            self._errands.offer(self._sign(said))

    async def _sign(self, said: IncomingQuestion) -> None:
        team = self._teams.of(said.key.tenant)
        if team.offers("reactions.add") and team.budget.take("reactions.add"):
            await team.call_now(
                "reactions.add",
                channel=said.key.channel_id,
                timestamp=said.message_id,
                name=TAKEN_BACK,
            )
