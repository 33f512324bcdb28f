"""What people do in Slack beside writing: press, command, point, open; as the app hears of it."""

from __future__ import annotations

from typing import Any, Protocol

from tests.peers.slack_house import SlackHouse, Whisper, controls_in
from tests.peers.slack_socket import Envelope, SlackDeliveries
from tests.peers.slack_world import (
    APP,
    BOT_USER,
    DIRECT,
    SlackMessage,
    SlackWorld,
)


class Workspace(Protocol):
    """What visitors need of the peer."""

    world: SlackWorld
    house: SlackHouse
    deliveries: SlackDeliveries
    base: str

    def emit(self, event: dict[str, Any]) -> Envelope | None: ...


class Visitors:
    """People who use the app's buttons, commands and panes."""

    def __init__(self, peer: Workspace) -> None:
        self._peer = peer

    def press(self, user: str, message: SlackMessage | Whisper, label: str) -> Envelope:
        """Press a button below a message, by its label."""
        found = dict(controls_in(message.blocks))
        assert label in found, f"no {label!r} among {sorted(found)}"
        private = isinstance(message, Whisper)
        shown = {} if private else message.as_slack(with_metadata=True)
        whisper = message if isinstance(message, Whisper) else None
        container = {"type": "message", "channel_id": message.channel, "is_ephemeral": private}
        body = self._body(user, "block_actions") | {
            "container": container,
            "channel": {"id": message.channel, "name": "somewhere"},
            "response_url": self._url(message.channel, user, whisper),
            "actions": [found[label] | {"action_ts": "1.1", "block_id": "b"}],
        }
        return self._deliver("interactive", body | ({"message": shown} if shown else {}))

    def command(self, user: str, name: str, text: str, channel: str = DIRECT) -> Envelope:
        body = {
            "token": "verification",
            "team_id": self._home_of(user),
            "team_domain": "team",
            "channel_id": channel,
            "channel_name": "somewhere",
            "user_id": user,
            "user_name": "somebody",
            "command": name,
            "text": text,
            "api_app_id": APP,
            "is_enterprise_install": "false",
            "response_url": self._url(channel, user, None),
            "trigger_id": self._peer.house.trigger(),
        }
        return self._deliver("slash_commands", body)

    def point_at(self, user: str, message: SlackMessage) -> Envelope:
        """Use the message shortcut."""
        body = self._body(user, "message_action") | {
            "callback_id": "footnote_answer_this",
            "channel": {"id": message.channel, "name": "somewhere"},
            "message": message.as_slack(with_metadata=False),
            "message_ts": message.ts,
            "response_url": self._url(message.channel, user, None),
        }
        return self._deliver("interactive", body)

    def submit(self, user: str, view: dict[str, Any], words: str) -> Envelope:
        """Send a form with one field filled in."""
        [block] = [block for block in view["blocks"] if block["type"] == "input"]
        element = block["element"]
        field = {"type": element["type"], "value": words or None}
        values = {block["block_id"]: {element["action_id"]: field}}
        body = self._body(user, "view_submission") | {
            "view": view | {"id": "V1", "state": {"values": values}},
            "response_urls": [],
        }
        return self._deliver("interactive", body)

    def open_pane(self, user: str, channel: str = DIRECT) -> str:
        """Begin a thread in the assistant pane; returns its ts."""
        world = self._peer.world
        head = world.add(
            SlackMessage(
                ts=world.next_ts(), channel=channel, user=BOT_USER, text="New thread",
                metadata={"event_type": "assistant", "event_payload": {}},
            )
        )  # fmt: skip
        thread = {
            "user_id": user,
            "context": {
                "channel_id": "C0GENERAL",
                "team_id": self._peer.world.team,
                "enterprise_id": None,
            },
            "channel_id": channel,
            "thread_ts": head.ts,
        }
        event = {"type": "assistant_thread_started", "assistant_thread": thread}
        self._peer.emit(event | {"event_ts": head.ts})
        return head.ts

    def open_home(self, user: str) -> None:
        self._peer.emit(
            {
                "type": "app_home_opened",
                "user": user,
                "channel": DIRECT,
                "tab": "home",
                "event_ts": self._peer.world.next_ts(),
            }
        )

    def _body(self, user: str, kind: str) -> dict[str, Any]:
        return {
            "type": kind,
            "team": {"id": self._peer.world.team, "domain": "team"},
            "user": {"id": user, "username": "somebody", "team_id": self._home_of(user)},
            "api_app_id": APP,
            "token": "verification",
            "trigger_id": self._peer.house.trigger(),
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _home_of(self, user: str) -> str:
        return self._peer.world.home_of.get(user, self._peer.world.team)

    def _url(self, channel: str, user: str, whisper: Whisper | None) -> str:
        name = self._peer.house.url(channel, user, whisper)
        return self._peer.base.replace("/api/", f"/respond/{name}")

    def _deliver(self, kind: str, body: dict[str, Any]) -> Envelope:
        """Slack does not repeat these: what is not answered in time is shown as failed."""
        return self._peer.deliveries.deliver(kind, body, accepts_response=True, pauses=())
