"""One workspace, as its Web API answers us: known by its token, paced, refusals in our words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from time import monotonic
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calling.budget import Budget
from adapters.slack.calling.calls import CHANNEL_CLOSED, SERVICE, TOKEN_REFUSED, slack_errors, told
from adapters.slack.calling.lines import ComesLater
from adapters.slack.calling.pace import Pace
from adapters.slack.calling.patience import LONGEST_PAUSE, patiently
from adapters.slack.calling.scopes import TO_ANSWER, bot_scopes
from adapters.slack.calling.troubles import Trouble, Troubles
from adapters.slack.installing.workspace import Workspace, identify
from adapters.steward import Finding
from rag_core.errors import PlaceRefused, UpstreamRejected, UpstreamUnavailable

NO_JSON = frozenset(
    {
        "chat.getPermalink",
        "conversations.history",
        "conversations.replies",
        "files.getUploadURLExternal",
        "usergroups.users.list",
        "users.info",
    }
)
"""Methods that take their arguments as a form only."""
REPEATABLE = frozenset(
    {
        "assistant.threads.setSuggestedPrompts",
        "assistant.threads.setTitle",
        "views.publish",
    }
)
"""What somebody waits for, and what a second time changes nothing about."""
MISSING_SCOPE, POST = "missing_scope", "chat.postMessage"
LACKS = frozenset({MISSING_SCOPE, "unknown_method"})
FOR_A_PERSON = CHANNEL_CLOSED | LACKS
"""Refusals that stay until somebody does something."""
SHOWS = frozenset({POST, "chat.update"})
"""Where these lack a scope, no form of an answer can be shown."""
WHO_AM_I = "auth.test"
RUN_OUT, RENEWING = "token_expired", 5.0
"""A token that is renewed, and the seconds after which there is another one."""
ASKED_ANEW_AFTER = 3_600.0
"""Seconds: an app that is installed anew with more scopes keeps its token."""


class Team:
    """Calls methods for one workspace, and remembers what it does not offer."""

    def __init__(
        self,
        client: AsyncWebClient,
        *,
        post_seconds: float = 1.0,
        troubles: Troubles | None = None,
        refused: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self.client = client
        self.renews = False
        """Whether a token that has run out is renewed by itself."""
        self._tell_refused = refused
        self.budget = Budget()
        self._pace = Pace(post_seconds)
        self.troubles = troubles or Troubles()
        self._workspace: Workspace | None = None
        self._refused_as = ""
        self._lacking: dict[str, float] = {}
        self._granted: frozenset[str] | None = None

    @property
    def workspace(self) -> Workspace:
        if self._workspace is None:
            raise UpstreamUnavailable(SERVICE, "the workspace is not known yet")
        return self._workspace

    @property
    def is_ready(self) -> bool:
        """Whether Slack knows our token, as far as we have heard."""
        return self._workspace is not None and not self._refused_as

    async def identify(self) -> None:
        """Ask Slack whose token this is; a refused one is a ConfigurationError."""
        self.know(await identify(self.client))

    def know(self, workspace: Workspace) -> None:
        self._workspace = workspace
        if workspace.granted is not None:
            self.learn_scopes(workspace.granted)

    def learn_scopes(self, granted: frozenset[str]) -> None:
        """What the token may do. That nothing can be said must not wait for the first answer."""
        self._granted = granted
        if TO_ANSWER not in granted:
            self.troubles.note(Trouble(POST, MISSING_SCOPE, TO_ANSWER))
        elif not self.can_answer:
            self.troubles.over(POST)

    @property
    def can_answer(self) -> bool:
        """Whether Slack lets us post, as far as we have heard."""
        return not self.troubles.knows(POST, MISSING_SCOPE)

    @property
    def lacks_scopes(self) -> bool:
        return bool(self._lacking_scopes()) or not self.can_answer

    def _lacking_scopes(self) -> list[str]:
        if self._granted is None:
            return []
        return [scope for scope in bot_scopes() if scope not in self._granted]

    def renewed(self, token: str) -> None:
        """Slack has given another token for the workspace, or knows the one we have after all."""
        self.client.token = token
        self._refused_as = ""
        self._lacking.clear()
        self.troubles.over(WHO_AM_I)

    def offers(self, method: str) -> bool:
        """Not for a while, once the workspace has said that the method or its scope is missing."""
        return monotonic() >= self._lacking.get(method, 0.0)

    async def call(self, method: str, **arguments: Any) -> Mapping[str, Any]:
        """Call when it is the method's turn; UpstreamError where Slack did not do it."""
        once = partial(self._call_in_turn, method, **arguments)
        return await patiently(once, repeatable=method in REPEATABLE)

    async def call_soon(self, method: str, **arguments: Any) -> Mapping[str, Any]:
        """The same for an answer: where its turn is far away, it is left to the desk till then."""
        with left_for_later():
            await self.budget.turn(method, at_most=LONGEST_PAUSE)
        return await self.call_now(method, **arguments)

    async def _call_in_turn(self, method: str, **arguments: Any) -> Mapping[str, Any]:
        await self.budget.turn(method)
        return await self.call_now(method, **arguments)

    async def call_now(self, method: str, **arguments: Any) -> Mapping[str, Any]:
        """The same for who has taken the turn already."""
        if self._refused_as:
            raise self._no_token()
        place = str(arguments.get("channel") or arguments.get("channel_id") or "")
        given = {name: value for name, value in arguments.items() if value is not None}
        how: dict[str, Any] = {"data": as_form(given)} if method in NO_JSON else {"json": given}
        try:
            with slack_errors():
                answer = await self.client.api_call(method, **how)
        except UpstreamRejected as error:
            self._learn(method, error, place)
            if reason_of(error) == RUN_OUT:
                raise self._no_token() from error
            if method in SHOWS and reason_of(error) in LACKS:
                raise PlaceRefused(SERVICE, reason_of(error)) from error
            raise
        self.troubles.over(method)
        self.troubles.over(method, place)
        data: Mapping[str, Any] = answer.data if isinstance(answer.data, dict) else {}
        return data

    async def post(self, *, channel: str, **message: Any) -> str:
        """Post when it is the channel's turn; the message's timestamp, which is its id."""
        return told(await self._posted(channel, message), "ts")

    async def post_direct(self, *, user: str, **message: Any) -> tuple[str, str]:
        """Post to one person; the channel that this is, and the message's timestamp there."""
        posted = await self._posted(user, message)
        return told(posted, "channel"), told(posted, "ts")

    async def _posted(self, channel: str, message: Mapping[str, Any]) -> Mapping[str, Any]:
        with left_for_later():
            await self._pace.turn(channel, at_most=LONGEST_PAUSE)
        try:
            return await self.call_now(
                "chat.postMessage",
                channel=channel,
                unfurl_links=False,
                unfurl_media=False,
                **message,
            )
        except UpstreamRejected as error:
            if error.retry_after is not None:
                self._pace.hold(channel, error.retry_after)
            raise

    def upload(self, url: str, content: bytes) -> AbstractAsyncContextManager[Any]:
        """Hand over a file's content, where Slack told us to."""
        session = self.client.session
        assert session is not None
        return session.post(url, data=content)

    def revoked(self, reason: str) -> None:
        """Slack has told us that the token is of no use any more: ask for nothing with it."""
        if not self._refused_as:
            self._refused_as = reason
            self.troubles.note(Trouble(WHO_AM_I, reason))

    def findings(self) -> Sequence[Finding]:
        if self._workspace is None:
            detail = "Slack has not answered yet; the bot keeps trying."
            return [Finding(name="slack", in_place=False, detail=detail)]
        told = self.troubles.scopes_told
        lacking = [scope for scope in self._lacking_scopes() if scope not in told]
        scopes = [self.troubles.lacking(lacking)] if lacking else []
        return [*scopes, *self.troubles.findings()]

    def _no_token(self) -> UpstreamRejected:
        if self.renews and self._refused_as == RUN_OUT:
            return UpstreamRejected(SERVICE, RUN_OUT, retryable=True, retry_after=RENEWING)
        return PlaceRefused(SERVICE, self._refused_as)

    def _learn(self, method: str, error: UpstreamRejected, place: str) -> None:
        name = reason_of(error)
        if error.retry_after is not None and method != "chat.postMessage":
            self.budget.hold(method, error.retry_after)
        if name in TOKEN_REFUSED:
            self.revoked(name)
            self._tell_refused(name)
        to_one_person = name in CHANNEL_CLOSED and place.startswith(("B", "U", "W"))
        if name in FOR_A_PERSON and not to_one_person:
            where = place if name in CHANNEL_CLOSED else ""
            self.troubles.note(Trouble(method, name, needed_scope(error), where))
        if name in LACKS:
            self._lacking[method] = monotonic() + ASKED_ANEW_AFTER


@contextmanager
def left_for_later() -> Iterator[None]:
    """A turn that is far away is what Slack would say, had it been asked now."""
    try:
        yield
    except ComesLater as error:
        raise UpstreamRejected(
            SERVICE, "ratelimited", retryable=True, retry_after=error.seconds
        ) from None


def reason_of(error: UpstreamRejected) -> str:
    """Slack's own name for what it refused."""
    return str(error).partition(": ")[2]


def needed_scope(error: UpstreamRejected) -> str:
    response = getattr(error.__cause__, "response", None)
    data = getattr(response, "data", None)
    return str(data.get("needed", "")) if isinstance(data, dict) else ""


def as_form(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: int(value) if isinstance(value, bool) else value for name, value in arguments.items()
    }
