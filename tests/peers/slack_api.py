"""Slack's Web API over a workspace: what each method needs, does and refuses."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from time import monotonic
from typing import Any, ClassVar

from tests.peers.slack_house import SlackHouse
from tests.peers.slack_pages import changed_event, message_event, paged, shown, unfurls, within
from tests.peers.slack_rules import Refused, check_message
from tests.peers.slack_streams import SlackStreams
from tests.peers.slack_world import (
    APP,
    BOT,
    BOT_USER,
    SlackChannel,
    SlackMessage,
    SlackWorld,
)

READ_ONLY = {
    "chat.getPermalink",
    "conversations.replies",
    "conversations.history",
    "files.getUploadURLExternal",
    "usergroups.users.list",
    "users.info",
}
"""These take a query or a form, never JSON."""
HISTORY_SCOPES = {"channel": "channels:history", "group": "groups:history"}
ALL_SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "im:history",
        "mpim:history",
        "reactions:write",
        "usergroups:read",
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
    LATE = auto()
    """The connection breaks at once, and it is done only when a test says so."""


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
            "chat.startStream": (20, 60.0),
            "chat.stopStream": (20, 60.0),
            "chat.appendStream": (100, 60.0),
            "chat.postEphemeral": (100, 60.0),
            "chat.delete": (50, 60.0),
            "usergroups.users.list": (20, 60.0),
            "users.info": (100, 60.0),
            "views.open": (100, 60.0),
            "views.publish": (100, 60.0),
            "assistant.threads.setStatus": (100, 60.0),
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

    METHODS: ClassVar[dict[str, tuple[str, bool]]] = {
        "apps.connections.open": ("_apps_connections_open", False),
        "assistant.threads.setStatus": ("_set_status", False),
        "assistant.threads.setSuggestedPrompts": ("_set_prompts", False),
        "assistant.threads.setTitle": ("_set_title", False),
        "auth.test": ("_auth_test", False),
        "chat.appendStream": ("_append_stream", False),
        "chat.delete": ("_delete", False),
        "chat.getPermalink": ("_permalink", False),
        "chat.postEphemeral": ("_whisper", False),
        "chat.postMessage": ("_post", False),
        "chat.startStream": ("_start_stream", False),
        "chat.stopStream": ("_stop_stream", False),
        "chat.update": ("_update", False),
        "conversations.history": ("_history", False),
        "conversations.replies": ("_replies", False),
        "files.completeUploadExternal": ("_end_upload", False),
        "files.delete": ("_delete_file", False),
        "files.getUploadURLExternal": ("_begin_upload", False),
        "reactions.add": ("_react", False),
        "usergroups.users.list": ("_group", False),
        "users.info": ("_user", False),
        "views.open": ("open_view", True),
        "views.publish": ("publish", True),
    }
    """Each method, what does it, and whether that is the house's."""

    def __init__(
        self,
        world: SlackWorld,
        *,
        bot_token: str,
        app_token: str,
        open_socket: Callable[[], str],
        emit: Callable[[dict[str, Any]], None],
        house: SlackHouse,
        upload_url: Callable[[str], str],
    ) -> None:
        self.world = world
        self.tokens = {bot_token: "bot", app_token: "app"}
        self.scopes = set(ALL_SCOPES)
        self.for_organisation = False
        """Whether the app was installed for a whole organisation."""
        self.enterprise = ""
        self.standing: dict[str, str] = {}
        """Methods that this workspace always refuses, and the error it gives."""
        self.limits = RateLimits()
        self.calls: list[Call] = []
        self._open_socket = open_socket
        self._emit = emit
        self._upload_url = upload_url
        self._methods: dict[str, Callable[[Arguments], Arguments]] = {
            name: getattr(house if on_house else self, method)
            for name, (method, on_house) in self.METHODS.items()
        }
        self.house = house
        self.streams = SlackStreams(world)

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
        by_channel = str(arguments.get("channel", "")) if method == "chat.postMessage" else ""
        self.limits.check(method, by_channel)

    def need(self, scope: str) -> None:
        if scope not in self.scopes:
            provided = ",".join(sorted(self.scopes))
            raise Refused("missing_scope", needed=scope, provided=provided)

    def _auth_test(self, arguments: Arguments) -> Arguments:
        return {
            "url": "https://team.slack.example/",
            "team": "Team",
            "user": "footnote",
            "team_id": self.world.team,
            "user_id": BOT_USER,
            "bot_id": BOT,
            "is_enterprise_install": self.for_organisation,
            **({"enterprise_id": self.enterprise} if self.enterprise else {}),
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
        if self.streams.is_open(channel.id, message.ts):
            raise Refused("streaming_state_conflict")
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
        page = paged([], within(top, arguments)[::-1], arguments)
        for shown_message in page["messages"]:
            replies = self.world.thread(channel.id, shown_message["ts"])[1:]
            if replies:
                counted = {"reply_count": len(replies), "latest_reply": replies[-1].ts}
                shown_message |= counted | {"thread_ts": shown_message["ts"]}
        return page

    def _readable(self, arguments: Arguments) -> SlackChannel:
        channel = self.world.channel(arguments.get("channel"))
        self.need(HISTORY_SCOPES.get(channel.kind, f"{channel.kind}:history"))
        return channel

    def _group(self, arguments: Arguments) -> Arguments:
        self.need("usergroups:read")
        if arguments.get("usergroup") not in self.world.groups:
            raise Refused("no_such_subteam")
        return {"users": list(self.world.groups[arguments["usergroup"]])}

    def _user(self, arguments: Arguments) -> Arguments:
        self.need("users:read")
        if arguments.get("user") not in self.world.users:
            raise Refused("user_not_found")
        user = arguments["user"]
        name = self.world.users[user]
        about = {
            "id": user,
            "team_id": self.world.home_of.get(user, self.world.team),
            "name": name,
            "is_bot": name == "footnote",
            "is_admin": user in self.world.admins,
            "is_owner": False,
            "profile": {"display_name": name},
        }
        if str(arguments.get("include_locale", "0")) in {"1", "true"}:
            about["locale"] = self.world.locales.get(user, "en-US")
        return {"user": about}

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

    def _start_stream(self, arguments: Arguments) -> Arguments:
        self.need("chat:write")
        channel = self.world.channel(arguments.get("channel"), posting=True)
        message = self.streams.start(channel, arguments)
        self._emit(message_event(message, channel))
        return {"channel": channel.id, "ts": message.ts}

    def _append_stream(self, arguments: Arguments) -> Arguments:
        message, channel = self._own_message(arguments, "message_not_owned_by_app")
        self.streams.append(message, arguments)
        return {"channel": channel.id, "ts": message.ts}

    def _stop_stream(self, arguments: Arguments) -> Arguments:
        message, channel = self._own_message(arguments, "message_not_owned_by_app")
        before = message.as_slack(with_metadata=False)
        self.streams.stop(message, arguments)
        self._emit(changed_event(message, before, channel))
        return {"channel": channel.id, "ts": message.ts}

    def _permalink(self, arguments: Arguments) -> Arguments:
        channel = self.world.channel(arguments.get("channel"))
        ts = str(arguments.get("message_ts"))
        if ts not in channel.messages:
            raise Refused("message_not_found")
        return {"permalink": f"https://team.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"}

    def _whisper(self, arguments: Arguments) -> Arguments:
        self.need("chat:write")
        channel = self.world.channel(arguments.get("channel"), posting=True)
        if arguments.get("user") not in channel.members:
            raise Refused("user_not_in_channel")
        check_message(arguments)
        self.house.whisper(channel.id, arguments["user"], arguments)
        return {"message_ts": self.world.next_ts()}

    def _set_title(self, arguments: Arguments) -> Arguments:
        self.need("assistant:write")
        if not str(arguments.get("title") or "").strip():
            raise Refused("invalid_arguments", "a title is a text")
        channel = self.world.channel(arguments.get("channel_id"))
        head = self.world.thread_head(channel, str(arguments.get("thread_ts")))
        self.house.titles[channel.id, head.ts] = arguments["title"]
        return {}

    def _set_prompts(self, arguments: Arguments) -> Arguments:
        self.need("assistant:write")
        channel = self.world.channel(arguments.get("channel_id"))
        self.world.thread_head(channel, str(arguments.get("thread_ts")))
        self.house.set_prompts(arguments)
        return {}

    def _react(self, arguments: Arguments) -> Arguments:
        self.need("reactions:write")
        channel = self.world.channel(arguments.get("channel"))
        if arguments.get("timestamp") not in channel.messages:
            raise Refused("message_not_found")
        self.house.reactions.append((channel.id, arguments["timestamp"], arguments["name"]))
        return {}

    def _begin_upload(self, arguments: Arguments) -> Arguments:
        self.need("files:write")
        file = self.house.begin_upload(arguments)
        return {"file_id": file, "upload_url": self._upload_url(file)}

    def _end_upload(self, arguments: Arguments) -> Arguments:
        self.need("files:write")
        channel = self.world.channel(arguments.get("channel_id"), posting=True)
        files = [self.house.files[file["id"]] for file in arguments["files"]]
        if any("content" not in file or len(file["content"]) != file["size"] for file in files):
            raise Refused("file_not_found")
        message = self.world.add(
            SlackMessage(
                ts=self.world.next_ts(),
                channel=channel.id,
                user=BOT_USER,
                text=arguments.get("initial_comment") or "",
                thread_ts=arguments.get("thread_ts"),
                bot_id=BOT,
                files=[{k: v for k, v in file.items() if k != "content"} for file in files],
            )
        )
        self._emit(message_event(message, channel) | {"subtype": "file_share"})
        return {"files": [{"id": file["id"], "title": file["name"]} for file in files]}

    def _delete_file(self, arguments: Arguments) -> Arguments:
        self.need("files:write")
        if self.house.files.pop(str(arguments.get("file")), None) is None:
            raise Refused("file_not_found")
        for channel in self.world.channels.values():
            for ts, message in list(channel.messages.items()):
                if any(file["id"] == arguments["file"] for file in message.files):
                    del channel.messages[ts]
        return {}


__all__ = ["APP", "Arguments", "Call", "Fault", "SlackApi"]
