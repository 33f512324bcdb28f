"""The Slack app's manifest, made from what the code uses."""

from __future__ import annotations

from typing import Any

from adapters.slack.acting.shortcut import CALLBACK, NAME
from adapters.slack.calling.scopes import PLACES, bot_scopes
from adapters.slack.config import CommandNames, InstallConfig, redirect_uri
from adapters.slack.hearing.bolt import EVENTS

ASKED_FOR_BY_SLACK = ("assistant_thread_context_changed",)
"""An app with the assistant pane must subscribe to it, though there is nothing to do."""
EVENTS_PATH = "/slack/events"
DESCRIPTION = "Answers from your own documents, with a footnote for every sentence."


def bot_events() -> list[str]:
    own = {event for event in EVENTS if event != "message"}
    return sorted({*own, *PLACES, *ASKED_FOR_BY_SLACK})


def manifest(
    names: CommandNames, *, public_url: str | None = None, install: InstallConfig | None = None
) -> dict[str, Any]:
    """For Socket Mode, or, where the bot can be reached under an address, for events over HTTP.

    An app that several workspaces install is told where their browsers come back to."""
    address = public_url.rstrip("/") + EVENTS_PATH if public_url else None
    return {
        "display_information": {"name": "Footnote", "description": DESCRIPTION},
        "features": features(names, address),
        "oauth_config": {"scopes": {"bot": bot_scopes()}, **came_back_to(install)},
        "settings": {
            "event_subscriptions": reached(address) | {"bot_events": bot_events()},
            "interactivity": reached(address) | {"is_enabled": True},
            "org_deploy_enabled": False,
            "socket_mode_enabled": address is None,
            "token_rotation_enabled": False,
        },
    }


def features(names: CommandNames, address: str | None) -> dict[str, Any]:
    commands = [
        (names.ask, "Ask; the answer is for you alone", "[question]"),
        (names.lookup, "Find passages in the documents", "[words]"),
        (names.house, "Help, books and settings", "[help | books | forget me | channel | doctor]"),
    ]
    url = {"url": address} if address else {}
    return {
        "app_home": {
            "home_tab_enabled": True,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "assistant_view": {"assistant_description": DESCRIPTION, "suggested_prompts": []},
        "bot_user": {"display_name": "footnote", "always_online": True},
        "shortcuts": [
            {
                "name": NAME,
                "type": "message",
                "callback_id": CALLBACK,
                "description": "Answers a message in its thread",
            }
        ],
        "slash_commands": [
            {"command": name, "description": said, "usage_hint": hint, "should_escape": True} | url
            for name, said, hint in commands
        ],
    }


def came_back_to(install: InstallConfig | None) -> dict[str, Any]:
    return {"redirect_urls": [redirect_uri(install)]} if install else {}


def reached(address: str | None) -> dict[str, Any]:
    return {"request_url": address} if address else {}
