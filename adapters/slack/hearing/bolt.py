"""The library's app, set up so that Slack is answered only after something was heard."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.acting.buttons import ACTION, CLOSES
from adapters.slack.acting.shortcut import CALLBACK
from adapters.slack.calling.vendor_log import vendor_log
from adapters.slack.hearing.shapes import COMMAND, FORM, POINTED, PRESS, fits
from adapters.slack.installing.teams import Teams
from rag_core.errors import FootnoteError, UpstreamError

log = logging.getLogger(__name__)

Body = Mapping[str, Any]
Hears = Callable[[Body], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ears:
    """Who is told of what comes in. What has nobody is acknowledged and passed over."""

    message: Hears
    pane_opened: Hears | None = None
    home_opened: Hears | None = None
    pressed: Hears | None = None
    form_sent: Hears | None = None
    command: Callable[[Body], Awaitable[Mapping[str, Any]]] | None = None
    shortcut: Hears | None = None
    uninstalled: Hears | None = None


NOT_NOW = 503
IDS = ("event_id", "team_id", "trigger_id")
"""What an event is known by in the log."""


class OwnDefect(FootnoteError):
    """A defect of ours, met where the library's own could be met too."""


EVENTS = {
    "app_mention": "message",
    "message": "message",
    "assistant_thread_started": "pane_opened",
    "app_home_opened": "home_opened",
    "app_uninstalled": "uninstalled",
    "tokens_revoked": "uninstalled",
}
"""Which ear hears which of Slack's events."""


def bolt_app(ears: Ears, *, teams: Teams, base_url: str) -> AsyncApp:
    """Who we are was asked at the start: the library's own way would ask again with the first
    event, and acknowledge that event unheard if Slack were busy just then."""

    async def authorize(team_id: str | None) -> AuthorizeResult | None:
        try:
            team = await teams.found(team_id or "")
            workspace = team.workspace
        except UpstreamError:
            return None
        except FootnoteError:
            raise
        except Exception as error:
            raise OwnDefect("Looking up the workspace met a defect.") from error
        return AuthorizeResult(
            enterprise_id=None,
            team_id=workspace.team_id,
            bot_user_id=workspace.bot_user_id,
            bot_id=workspace.bot_id,
            bot_token=team.client.token,
        )

    app = AsyncApp(
        name="footnote",
        logger=vendor_log(),
        client=AsyncWebClient(base_url=base_url, logger=vendor_log(), retry_handlers=[]),
        authorize=authorize,  # type: ignore[arg-type]  # None is for a workspace that left
        process_before_response=True,
        raise_error_for_unhandled_request=True,  # its own warning would quote the request
        signing_secret="",
        request_verification_enabled=False,
        ssl_check_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    for event, ear in EVENTS.items():
        if hears := getattr(ears, ear):
            app.event(event)(_hearing(hears))
    app.event(re.compile(".*"))(_pass_over)
    _interactive(app, ears)
    app.error(_report)
    return app


def _interactive(app: AsyncApp, ears: Ears) -> None:
    if ears.pressed:
        app.action(re.compile(f"{ACTION}:.*"))(_acknowledged(ears.pressed, PRESS))
    if ears.form_sent:
        app.view(CLOSES["callback"])(_acknowledged(ears.form_sent, FORM))
    if ears.shortcut:
        app.message_shortcut(CALLBACK)(_acknowledged(ears.shortcut, POINTED))
    if ears.command:
        app.command(re.compile(".*"))(_replying(ears.command))


def _hearing(hears: Hears) -> Callable[..., Any]:
    async def hear(body: dict[str, Any]) -> None:
        await hears(body)

    return hear


def _acknowledged(hears: Hears, needed: tuple[str, ...]) -> Callable[..., Any]:
    async def hear(body: dict[str, Any], ack: AsyncAck) -> None:
        if fits(body, needed):
            await hears(body)
        await ack()

    return hear


def _replying(command: Callable[[Body], Awaitable[Mapping[str, Any]]]) -> Callable[..., Any]:
    async def hear(body: dict[str, Any], ack: AsyncAck) -> None:
        if fits(body, COMMAND):
            await ack(**await command(body))
        else:
            await ack()

    return hear


async def _pass_over(body: dict[str, Any]) -> None:
    """An event that no listener takes would never be acknowledged, and come again and again."""


async def _report(error: Exception, body: dict[str, Any]) -> BoltResponse | None:
    if isinstance(error, BoltUnhandledRequestError):
        log.info("slack sent what nothing here takes", extra={"type": str(body.get("type"))})
        return None
    return not_accepted(error, body)


def not_accepted(error: Exception, body: Mapping[str, Any]) -> BoltResponse:
    """An error of ours: whatever it is, Slack shall send the same again."""
    about = {name: str(body[name]) for name in IDS if body.get(name)}
    about["cause"] = type(error).__name__
    if isinstance(error, FootnoteError) and not isinstance(error, OwnDefect):
        log.error("event not accepted; Slack will send it again", extra=about)
    else:
        log.error("event met a defect; Slack will send it again", extra=about, exc_info=error)
    return BoltResponse(status=NOT_NOW, body="", headers={"retry-after": "5"})
