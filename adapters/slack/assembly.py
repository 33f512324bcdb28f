"""The parts of the Slack adapter, put together."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.admissions import Admissions
from adapters.answer_policy import AnswerPolicy
from adapters.answered_threads import AnsweredThreads
from adapters.asked_lately import KnowsAskedLately
from adapters.closed_passages import ClosedPassages
from adapters.passages import Passages
from adapters.platform import TakesQuestions
from adapters.review import KnowsAnswers, Review
from adapters.slack.acting.commands import Commands
from adapters.slack.acting.home import Home, KnowsAsked
from adapters.slack.acting.house_keeping import HouseCommand
from adapters.slack.acting.keeping import Keeping
from adapters.slack.acting.pane import ChoosesBooks, Pane, Starters
from adapters.slack.acting.presses import Presses
from adapters.slack.acting.private import Whispers
from adapters.slack.acting.sharing import Sharing
from adapters.slack.acting.shortcut import Shortcut
from adapters.slack.acting.staff import Staff
from adapters.slack.acting.staff_members import StaffMembers
from adapters.slack.answering.drafts import Drafts
from adapters.slack.answering.lost_drafts import LostDrafts
from adapters.slack.answering.renderer import SlackRenderer
from adapters.slack.answering.reply import SlackReplies
from adapters.slack.calling.people import People
from adapters.slack.config import SlackConfig
from adapters.slack.hearing.afterthoughts import Afterthoughts
from adapters.slack.hearing.bolt import Ears, Hears, bolt_app
from adapters.slack.hearing.context import Context
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.files import FileReader
from adapters.slack.hearing.listener import Listener
from adapters.slack.hearing.marks import MarkKeepers
from adapters.slack.hearing.membership import Membership
from adapters.slack.hearing.shapes import part
from adapters.slack.hearing.standing import Standing
from adapters.slack.installing.teams import Teams, team_id_in
from adapters.staff_answers import KeepsAnswers
from adapters.steward import Steward
from adapters.thread_talk import ThreadTalk
from rag_core.books.rules import KnowsPolicies
from rag_core.desk.incoming import IncomingQuestion
from rag_core.ports import FeedbackStore, ForgettingStore, InstallationStore, MarkerStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackParts:
    """What the rest of the house hands in; what is None is not offered in Slack."""

    desk: TakesQuestions
    markers: MarkerStore
    admissions: Admissions
    """Which workspaces are served."""
    answers: KnowsAnswers
    feedback: FeedbackStore
    closed: ClosedPassages | None = None
    passages: Passages | None = None
    library: ChoosesBooks | None = None
    policies: KnowsPolicies | None = None
    starters: Starters | None = None
    steward: Steward | None = None
    asked: KnowsAsked | None = None
    lately: KnowsAskedLately | None = None
    """What was asked lately, for edits and deletions that nobody heard."""
    staffing: KeepsAnswers | None = None
    installations: InstallationStore | None = None
    """Where workspaces may install the app by themselves."""
    forgetting: ForgettingStore | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The adapter at rest: what hears, and what answers."""

    app: AsyncApp
    renderer: SlackRenderer
    replies: SlackReplies
    lost_drafts: LostDrafts
    marks: MarkKeepers
    hears: Hears
    forget: Callable[[str | None], None]
    """Drop what is remembered of one person, or of everybody."""
    membership: Membership


def built(
    config: SlackConfig,
    parts: SlackParts,
    *,
    teams: Teams,
    client: AsyncWebClient,
    errands: Errands,
) -> Built:
    return _Builder(config, parts, teams, client, errands).built()


class _Builder:
    """Puts together what several parts share."""

    def __init__(
        self,
        config: SlackConfig,
        parts: SlackParts,
        teams: Teams,
        client: AsyncWebClient,
        errands: Errands,
    ) -> None:
        assert client.session is not None
        self._config = config
        self._parts = parts
        self._teams = teams
        self._client = client
        self._errands = errands
        self._talk = ThreadTalk()
        self._marks = MarkKeepers(parts.markers, teams)
        self._threads = AnsweredThreads(parts.markers)
        self._people = People(teams, admins=config.admins)
        self._members = StaffMembers(config.ask_person, people=self._people, teams=teams)
        self._context = Context(people=self._people, files=FileReader(client.session))
        self._whispers = Whispers(teams=teams, session=client.session, api_base=client.base_url)
        self._membership = Membership(
            parts.admissions,
            teams=teams,
            whispers=self._whispers,
            errands=errands,
            has_own_token=config.install is None,
        )
        self._renderer = SlackRenderer(has_staff=bool(config.ask_person))
        drafts = Drafts(parts.markers)
        self._lost_drafts = LostDrafts(
            parts.markers, teams=teams, drafts=drafts, look_after=config.look_again_after
        )
        self._replies = SlackReplies(
            teams=teams,
            threads=self._threads,
            drafts=drafts,
            lost_drafts=self._lost_drafts,
            whispers=self._whispers,
            begun=self._talk.begin,
            serves=self._membership.serves,
            write_seconds=config.write_seconds,
        )
        self._keeping = self._keeping_of(parts.staffing) if parts.staffing else None

    def built(self) -> Built:
        parts, teams = self._parts, self._teams
        pane = Pane(
            teams=teams, markers=parts.markers, library=parts.library, starters=parts.starters
        )
        presses = self._presses()
        listener = self._listener(pane)
        hears = marked(self._membership.hearing(listener.hear), self._marks)

        def forget(asker_id: str | None) -> None:
            listener.forget(asker_id)
            self._people.forget(asker_id)
            self._members.forget()
            self._membership.forget(asker_id)

        ears = Ears(
            message=hears,
            pane_opened=self._later(pane.opened),
            home_opened=self._later(self._home().opened),
            pressed=presses.pressed,
            form_sent=presses.sent,
            command=self._commands().use,
            shortcut=self._shortcut().use,
            uninstalled=self._gone,
        )
        app = bolt_app(self._membership.guarded(ears), teams=teams, base_url=self._client.base_url)
        return Built(
            app=app,
            renderer=self._renderer,
            replies=self._replies,
            lost_drafts=self._lost_drafts,
            marks=self._marks,
            hears=hears,
            forget=forget,
            membership=self._membership,
        )

    def _later(self, hears: Callable[[Mapping[str, Any]], Coroutine[Any, Any, None]]) -> Hears:
        """For what Slack need not wait for, and nobody misses when it is lost."""

        async def hear(body: Mapping[str, Any]) -> None:
            self._errands.offer(hears(body))

        return hear

    async def _gone(self, body: Mapping[str, Any]) -> None:
        """The app was removed, or its token revoked, in this workspace.

        People have tokens too, and theirs are not what we work with."""
        event = part(body, "event")
        uninstalled = event.get("type") == "app_uninstalled"
        if uninstalled or part(event, "tokens").get("bot"):
            self._teams.gone(team_id_in(body), uninstalled=uninstalled)

    def _listener(self, pane: Pane) -> Listener:
        config, parts = self._config, self._parts
        afterthoughts = Afterthoughts(desk=parts.desk, teams=self._teams, errands=self._errands)

        def asked(question: IncomingQuestion) -> None:
            afterthoughts.asked(question)
            self._marks.asked(question)
            self._errands.offer(pane.asked(question))

        return Listener(
            desk=parts.desk,
            teams=self._teams,
            standing=Standing(
                threads=self._threads,
                talk=self._talk,
                policies=parts.policies,
                allowed_bots=config.allowed_bots,
            ),
            context=self._context,
            afterthoughts=afterthoughts,
            talk=self._talk,
            policy=AnswerPolicy(),
            errands=self._errands,
            asked=asked,
            keeping=self._keeping,
        )

    def _keeping_of(self, staffing: KeepsAnswers) -> Keeping:
        return Keeping(
            staffing,
            staff=self._members,
            people=self._people,
            teams=self._teams,
            whispers=self._whispers,
            errands=self._errands,
        )

    def _presses(self) -> Presses:
        parts, teams, whispers = self._parts, self._teams, self._whispers
        review = Review(
            answers=parts.answers,
            feedback=parts.feedback,
            desk=parts.desk,
            markers=parts.markers,
            closed=parts.closed,
        )
        return Presses(
            review=review,
            staff=Staff(
                self._config.ask_person,
                members=self._members,
                review=review,
                teams=teams,
                whispers=whispers,
            ),
            sharing=Sharing(
                answers=parts.answers,
                closed=parts.closed,
                markers=parts.markers,
                teams=teams,
                whispers=whispers,
                renderer=self._renderer,
                threads=self._threads,
            ),
            teams=teams,
            whispers=whispers,
            errands=self._errands,
            keeping=self._keeping,
        )

    def _commands(self) -> Commands:
        names, steward = self._config.names, self._parts.steward
        house = HouseCommand(steward, names=names, people=self._people) if steward else None
        return Commands(
            names=names,
            desk=self._parts.desk,
            people=self._people,
            passages=self._parts.passages,
            house=house,
        )

    def _home(self) -> Home:
        return Home(
            teams=self._teams,
            names=self._config.names,
            people=self._people,
            steward=self._parts.steward,
            asked=self._parts.asked,
        )

    def _shortcut(self) -> Shortcut:
        return Shortcut(
            desk=self._parts.desk,
            teams=self._teams,
            context=self._context,
            whispers=self._whispers,
            errands=self._errands,
        )


def marked(hears: Hears, marks: MarkKeepers) -> Hears:
    """Notes what was heard, and what could not be written down."""

    async def hear(body: Mapping[str, Any]) -> None:
        keeper = marks.of(team_id_in(body))
        try:
            await hears(body)
        except BaseException:
            keeper.unheard(body)
            raise
        keeper.heard(body)

    return hear
