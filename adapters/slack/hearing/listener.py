"""What the bot does with an event: hands its question to the desk before Slack is answered."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

from adapters.answer_policy import AnswerPolicy, Decision, MessageFacts, Place
from adapters.never_mind import is_never_mind
from adapters.platform import AcceptsQuestions
from adapters.refusals import RefusalPace, refusal_sentence
from adapters.slack.acting.keeping import Keeping
from adapters.slack.calling.team import Team
from adapters.slack.hearing.afterthoughts import Afterthoughts
from adapters.slack.hearing.context import Context
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.events import Deleted, Edited, Heard, heard_in
from adapters.slack.hearing.standing import Standing
from adapters.slack.installing.teams import Teams, team_id_in
from adapters.thread_talk import ThreadTalk
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity
from rag_core.desk.notices import notices_in
from rag_core.errors import DeskFull

KEPT = 2_000
Clock = Callable[[], datetime]


class Listener:
    """Tells questions from talk, and writes them down."""

    def __init__(
        self,
        *,
        desk: AcceptsQuestions,
        teams: Teams,
        standing: Standing,
        context: Context,
        afterthoughts: Afterthoughts,
        talk: ThreadTalk,
        policy: AnswerPolicy,
        errands: Errands,
        asked: Callable[[IncomingQuestion], None],
        keeping: Keeping | None = None,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> None:
        self._desk = desk
        self._teams = teams
        self._standing = standing
        self._context = context
        self._afterthoughts = afterthoughts
        self._talk = talk
        self._policy = policy
        self._errands = errands
        self._refusals = RefusalPace()
        self._asked = asked
        self._keeping = keeping
        self._clock = clock
        self._turns: WeakValueDictionary[MessageIdentity, asyncio.Lock] = WeakValueDictionary()
        self._accepted: OrderedDict[MessageIdentity, IncomingQuestion] = OrderedDict()

    async def hear(self, body: Mapping[str, Any]) -> None:
        """When this raises, Slack is told nothing and sends the event again."""
        team = self._teams.of(team_id_in(body))
        heard_now = heard_in(body, team.workspace, heard_at=self._clock())
        if self._keeping is not None and isinstance(heard_now, Edited | Deleted):
            await self._keeping.changed(heard_now)
        match heard_now:
            case Heard() as heard:
                await self._take(team, heard)
            case Edited(question=question):
                await self._edited(question)
            case Deleted(identity=identity):
                await self._afterthoughts.withdrawn(identity)

    def forget(self, asker_id: str | None) -> None:
        """Drop what is remembered of one person's questions, or of everybody's."""
        for question in list(self._accepted.values()):
            if asker_id in (None, question.asker_id):
                del self._accepted[question.identity]
        self._talk.forget(asker_id)
        self._refusals.forget(asker_id)
        self._afterthoughts.forget(asker_id)

    async def _take(self, team: Team, heard: Heard) -> None:
        if not heard.from_bot:
            await self._stand_down(heard)
        if self._keeping is not None and await self._keeping.heard(team, heard):
            return
        facts = await self._standing.facts_of(heard)
        match self._policy.decide(facts, heard.question):
            case Decision.TAKE_BACK:
                await self._afterthoughts.never_mind(heard.question)
            case Decision.ANSWER | Decision.ANSWER_UNLESS_A_PERSON_DOES as decision:
                await self._accept(team, heard, facts, decision)

    async def _accept(
        self, team: Team, heard: Heard, facts: MessageFacts, decision: Decision
    ) -> None:
        # Both events of a mention come at once: the second finds what the first has read.
        async with self._turns.setdefault(heard.question.identity, asyncio.Lock()):
            question = self._accepted.get(heard.question.identity)
            if question is None:
                # In its own threads the bot knows what was said; a thread of people must be read.
                reads = heard.named and facts.place is Place.PEOPLES_THREAD
                question = await self._context.of(team, heard, reads_thread=reads)
            may_stand_down = decision is Decision.ANSWER_UNLESS_A_PERSON_DOES
            self._talk.ask(question, may_be_answered_by_others=may_stand_down)
            try:
                receipt = await self._desk.accept(question)
            except DeskFull:  # Slack sends it again, a few times
                self._tell(team, heard, question, notices_in(question.locale).queue)
                raise
            self._tell(team, heard, question, refusal_sentence(receipt, locale=question.locale))
            self._remember(question)

    def _tell(self, team: Team, heard: Heard, question: IncomingQuestion, sentence: str) -> None:
        """Tell the asker alone that this question is not taken."""
        if sentence and not heard.from_bot and self._refusals.allows(question):
            self._errands.offer(self._whisper(team, heard, question, sentence))

    async def _whisper(
        self, team: Team, heard: Heard, question: IncomingQuestion, sentence: str
    ) -> None:
        thread = {"thread_ts": question.key.thread_id} if heard.in_thread else {}
        await team.call(
            "chat.postEphemeral",
            channel=question.key.channel_id,
            user=question.asker_id,
            text=sentence,
            **thread,
        )

    async def _edited(self, question: IncomingQuestion) -> None:
        known = self._accepted.pop(question.identity, None)
        if is_never_mind(question.question.message):
            await self._afterthoughts.withdrawn(question.identity, asker_id=question.asker_id)
            return
        locale = known.locale if known else await self._context.locale_of(question)
        await self._afterthoughts.edited(replace(question, locale=locale))

    async def _stand_down(self, heard: Heard) -> None:
        """A question that another person answers first is not answered any more."""
        answered = self._talk.hear(
            heard.question, text="" if heard.named else heard.text, in_thread=heard.in_thread
        )
        for identity in answered:
            await self._afterthoughts.withdrawn(identity)

    def _remember(self, question: IncomingQuestion) -> None:
        """The second event of a mention need not be looked into again."""
        self._accepted[question.identity] = question
        self._asked(question)
        while len(self._accepted) > KEPT:
            self._accepted.popitem(last=False)
