"""What the bot does with an event: hands its question to the desk before Slack is answered."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.platform import AcceptsQuestions, KnowsThreads
from adapters.slack.events import heard_in
from adapters.slack.vendor_log import vendor_log
from adapters.slack.workspace import Workspace
from rag_core.errors import FootnoteError

log = logging.getLogger(__name__)
Clock = Callable[[], datetime]


class Listener:
    """Tells questions from talk, and writes them down."""

    def __init__(
        self,
        *,
        desk: AcceptsQuestions,
        threads: KnowsThreads,
        workspace: Workspace,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> None:
        self._desk = desk
        self._threads = threads
        self._workspace = workspace
        self._clock = clock

    async def hear(self, body: dict[str, Any]) -> None:
        """When this raises, Slack is told nothing and sends the event again."""
        heard = heard_in(body, self._workspace, heard_at=self._clock())
        if heard is None:
            return
        if heard.addressed or await self._threads.answered_in(heard.question.key):
            await self._desk.accept(heard.question)


def bolt_app(listener: Listener, *, workspace: Workspace, client: AsyncWebClient) -> AsyncApp:
    """The library's app, set up so that an event is acknowledged only after it was heard.

    Who we are was asked at the start: the library's own way would ask again with the first
    event, and acknowledge that event unheard if Slack were busy just then."""

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None,
            team_id=workspace.team_id,
            bot_user_id=workspace.bot_user_id,
            bot_id=workspace.bot_id,
            bot_token=client.token,
        )

    app = AsyncApp(
        name="footnote",
        logger=vendor_log(),
        client=AsyncWebClient(base_url=client.base_url, logger=vendor_log(), retry_handlers=[]),
        authorize=authorize,
        process_before_response=True,
        raise_error_for_unhandled_request=True,  # its own warning would quote the request
        signing_secret="",
        request_verification_enabled=False,
        ssl_check_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    app.event("app_mention")(_hears(listener))
    app.event("message")(_hears(listener))
    app.event(re.compile(".*"))(_pass_over)
    app.error(_report)
    return app


def _hears(listener: Listener) -> Callable[..., Any]:
    async def hear(body: dict[str, Any]) -> None:
        await listener.hear(body)

    return hear


async def _pass_over(body: dict[str, Any]) -> None:
    """An event that no listener takes would never be acknowledged, and come again and again."""


async def _report(error: Exception, body: dict[str, Any]) -> None:
    about = {"event_id": str(body.get("event_id")), "cause": type(error).__name__}
    if isinstance(error, BoltUnhandledRequestError):
        log.info("slack sent what nothing here takes", extra={"type": str(body.get("type"))})
    elif isinstance(error, FootnoteError):
        log.error("event not accepted; Slack will send it again", extra=about)
    else:
        log.error("event met a defect; Slack will send it again", extra=about, exc_info=error)
