"""Slack's Web API over a workspace: what each method needs, does and refuses."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from time import monotonic
from typing import Any

from tests.peers.slack_rules import Refused, check_blocks, check_message
from tests.peers.slack_world import (
    APP,
    BOT,
    BOT_USER,
    TEAM,
    SlackChannel,
    SlackMessage,
    SlackWorld,
)

READ_ONLY = {"conversations.replies", "conversations.history", "users.info"}
"""These take a query or a form, never JSON."""
HISTORY_SCOPES = {"channel": "channels:history", "group": "groups:history"}
ALL_SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "chat:write",
        "commands",
        "groups:history",
        "im:history",
        "mpim:history",
        "reactions:read",
        "reactions:write",
        "users:read",
    }
)
MAX_STATUS = 50
Arguments = dict[str, Any]


class Fault(Enum):
    """What goes wrong with one call."""

    RATE_LIMITED = auto()
    LOST_RESPONSE = auto()
    """Done, but the connection breaks before the answer."""
    RESET = auto()
    """The connection breaks before anything is done."""
    SERVER_ERROR = auto()
    GARBAGE = auto()
    PLAIN_TEXT = auto()
    HANG = auto()


@dataclass(frozen=True)
class Call:
    """One call of the app, for the tests to look at."""

    method: str
    arguments: Arguments
    at: float
    error: str | None


@dataclass
class RateLimits:
    """Slack's limits as sliding windows: (calls, seconds) for each method and its subject."""

    on: bool = False
    rules: dict[str, tuple[int, float]] = field(
        default_factory=lambda: {
            "chat.postMessage": (4, 4.0),
            "chat.update": (50, 60.0),
            "conversations.replies": (50, 60.0),
            "conversations.history": (50, 60.0),
            "auth.test": (100, 60.0),
        }
    )
    _calls: dict[tuple[str, str], deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def check(self, method: str, subject: str) -> None:
        if not self.on or method not in self.rules:
            return
        allowed, seconds = self.rules[method]
        calls, now = self._calls[method, subject], monotonic()
        while calls and calls[0] <= now - seconds:
            calls.popleft()
        if len(calls) >= allowed:
            raise Refused("ratelimited", retry_after=max(1, round(calls[0] + seconds - now + 0.5)))
        calls.append(now)


class SlackApi:
    """The methods that a bot of this kind calls."""

    def __init__(
        self,
        world: SlackWorld,
        *,
        bot_token: str,
        app_token: str,
        open_socket: Callable[[], str],
        emit: Callable[[dict[str, Any]], None],
    ) -> None:
        self.world = world
        self.tokens = {bot_token: "bot", app_token: "app"}
        self.scopes = set(ALL_SCOPES)
        self.standing: dict[str, str] = {}
        """Methods that this workspace always refuses, and the error it gives."""
        self.limits = RateLimits()
        self.calls: list[Call] = []
        self._open_socket = open_socket
        self._emit = emit
        self._methods: dict[str, Callable[[Arguments], Arguments]] = {
            "apps.connections.open": self._apps_connections_open,
            "assistant.threads.setStatus": self._set_status,
            "auth.test": self._auth_test,
            "chat.delete": self._delete,
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
            "users.info": self._user,
            "views.open": self._open_view,
        }
        self.triggers: set[str] = set()
        self.views: list[Arguments] = []

    def call(self, method: str, token: str | None, arguments: Arguments, *, as_json: bool) -> Any:
        """The answer of one call; refusals are raised, and both are written down."""
        error = None
        try:
            self._check(method, token, arguments, as_json=as_json)
            return {"ok": True} | self._methods[method](arguments)
        except Refused as refused:
            error = refused.error
            raise
        finally:
            self.calls.append(Call(method, arguments, monotonic(), error))

    def _check(
        self, method: str, token: str | None, arguments: Arguments, *, as_json: bool
    ) -> None:
        if method in self.standing:
            raise Refused(self.standing[method])
        if method not in self._methods:
            raise Refused("unknown_method", method)
        if token is None:
            raise Refused("not_authed")
        if token not in self.tokens:
            raise Refused("invalid_auth")
        if (method == "apps.connections.open") != (self.tokens[token] == "app"):
            raise Refused("not_allowed_token_type")
        if as_json and method in READ_ONLY:
            raise Refused("invalid_arguments", "this method takes no JSON")
        self.limits.check(method, str(arguments.get("channel", "")))

    def need(self, scope: str) -> None:
        if scope not in self.scopes:
            provided = ",".join(sorted(self.scopes))
            raise Refused("missing_scope", needed=scope, provided=provided)

    def _auth_test(self, arguments: Arguments) -> Arguments:
        return {
            "url": "https://team.slack.example/",
            "team": "Team",
            "user": "footnote",
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT,
            "is_enterprise_install": False,
        }

    def _apps_connections_open(self, arguments: Arguments) -> Arguments:
        return {"url": self._open_socket()}

    def _post(self, arguments: Arguments) -> Arguments:
        self.need("chat:write")
        channel = self.world.channel(arguments.get("channel"), posting=True)
        check_message(arguments)
        message = self.world.add(
            SlackMessage(
                ts=self.world.next_ts(),
                channel=channel.id,
                user=BOT_USER,
                text=arguments.get("text") or "",
                thread_ts=arguments.get("thread_ts"),
                blocks=arguments.get("blocks") or [],
                metadata=arguments.get("metadata"),
                bot_id=BOT,
                unfurls=unfurls(arguments),
            )
        )
        self._emit(message_event(message, channel))
        return {"channel": channel.id, "ts": message.ts, "message": shown(message)}

    def _update(self, arguments: Arguments) -> Arguments:
        self.need("chat:write")
        message, channel = self._own_message(arguments, "cant_update_message")
        check_message(arguments)
        before = message.as_slack(with_metadata=False)
        message.text, message.edited = arguments.get("text") or "", True
        message.blocks = arguments.get("blocks") or []
        message.metadata = arguments.get("metadata") or message.metadata
        self._emit(changed_event(message, before, channel))
        return {"channel": channel.id, "ts": message.ts, "text": message.text}

    def _delete(self, arguments: Arguments) -> Arguments:
        self.need("chat:write")
        message, channel = self._own_message(arguments, "cant_delete_message")
        del channel.messages[message.ts]
        return {"channel": channel.id, "ts": message.ts}

    def _own_message(self, arguments: Arguments, refusal: str) -> tuple[SlackMessage, SlackChannel]:
        channel = self.world.channel(arguments.get("channel"), posting=True)
        message = channel.messages.get(str(arguments.get("ts")))
        if message is None:
            raise Refused("message_not_found")
        if message.bot_id != BOT:
            raise Refused(refusal)
        return message, channel

    def _replies(self, arguments: Arguments) -> Arguments:
        channel = self._readable(arguments)
        head = channel.messages.get(arguments.get("ts", ""))
        if head is None:
            raise Refused("thread_not_found")
        replies = within(self.world.thread(channel.id, head.ts)[1:], arguments)
        first = [] if arguments.get("cursor") else [head]
        return paged(first, replies, arguments)

    def _history(self, arguments: Arguments) -> Arguments:
        channel = self._readable(arguments)
        top = [m for m in channel.messages.values() if m.thread_ts in (None, m.ts)]
        return paged([], within(top, arguments)[::-1], arguments)

    def _readable(self, arguments: Arguments) -> SlackChannel:
        channel = self.world.channel(arguments.get("channel"))
        self.need(HISTORY_SCOPES.get(channel.kind, f"{channel.kind}:history"))
        return channel

    def _user(self, arguments: Arguments) -> Arguments:
        self.need("users:read")
        if arguments.get("user") not in self.world.users:
            raise Refused("user_not_found")
        name = self.world.users[arguments["user"]]
        return {"user": {"id": arguments["user"], "name": name, "is_bot": name == "footnote"}}

    def _set_status(self, arguments: Arguments) -> Arguments:
        if "chat:write" not in self.scopes:
            self.need("assistant:write")
        status = arguments.get("status")
        if not isinstance(status, str) or len(status) > MAX_STATUS:
            raise Refused("invalid_arguments", "status is a short text")
        channel = self.world.channel(arguments.get("channel_id"))
        self.world.thread_head(channel, str(arguments.get("thread_ts")))
        self.world.statuses.append((channel.id, str(arguments["thread_ts"]), status))
        return {}

    def _open_view(self, arguments: Arguments) -> Arguments:
        if arguments.get("trigger_id") not in self.triggers:
            raise Refused("invalid_trigger_id")
        self.triggers.discard(arguments["trigger_id"])
        view = arguments.get("view")
        view = json.loads(view) if isinstance(view, str) else view
        if not isinstance(view, dict) or view.get("type") != "modal":
            raise Refused("invalid_arguments", "a view is a modal")
        if len(view["title"]["text"]) > 24:
            raise Refused("invalid_arguments", "a title has at most 24 characters")
        check_blocks(view.get("blocks"), at_most=100)
        self.views.append(view)
        return {"view": view | {"id": f"V{len(self.views)}"}}


def unfurls(arguments: Arguments) -> bool:
    """Links are unfurled unless the app says no to both kinds."""
    return bool(arguments.get("unfurl_links", True)) or bool(arguments.get("unfurl_media", True))


def within(messages: list[SlackMessage], arguments: Arguments) -> list[SlackMessage]:
    oldest, latest = arguments.get("oldest", "0"), arguments.get("latest", "9")
    inclusive = str(arguments.get("inclusive", "0")) in {"1", "true"}
    ends = {oldest, latest} if inclusive else set()
    return [m for m in messages if oldest < m.ts < latest or m.ts in ends]


def paged(first: list[SlackMessage], rest: list[SlackMessage], arguments: Arguments) -> Arguments:
    limit = int(arguments.get("limit", 1_000))
    if not 1 <= limit <= 1_000:
        raise Refused("invalid_limit")
    begin = int(arguments.get("cursor") or 0)
    with_metadata = str(arguments.get("include_all_metadata", "0")) in {"1", "true"}
    page = [*first, *rest[begin : begin + limit]]
    more = begin + limit < len(rest)
    return {
        "messages": [message.as_slack(with_metadata=with_metadata) for message in page],
        "has_more": more,
        "response_metadata": {"next_cursor": str(begin + limit) if more else ""},
    }


def shown(message: SlackMessage) -> Arguments:
    return message.as_slack(with_metadata=True)


def message_event(message: SlackMessage, channel: SlackChannel) -> Arguments:
    return message.as_slack(with_metadata=False) | {
        "channel": channel.id,
        "channel_type": channel.kind,
        "event_ts": message.ts,
    }


def changed_event(message: SlackMessage, before: Arguments, channel: SlackChannel) -> Arguments:
    return {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind,
        "ts": f"{message.ts}9",
        "event_ts": f"{message.ts}9",
        "message": message.as_slack(with_metadata=False) | {"edited": {"ts": message.ts}},
        "previous_message": before,
    }


__all__ = ["APP", "Arguments", "Call", "Fault", "SlackApi", "message_event"]
