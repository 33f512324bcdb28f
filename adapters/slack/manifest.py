"""The Slack app's manifest, made from what the code uses."""

from __future__ import annotations

from typing import Any

from adapters.slack.acting.shortcut import CALLBACK, NAME
from adapters.slack.config import CommandNames, InstallConfig, redirect_uri
from adapters.slack.hearing.bolt import EVENTS

SCOPES_OF_METHODS = {
    "assistant.threads.setStatus": "assistant:write",
    "assistant.threads.setSuggestedPrompts": "assistant:write",
    "assistant.threads.setTitle": "assistant:write",
    "chat.appendStream": "chat:write",
    "chat.delete": "chat:write",
    "chat.getPermalink": "",
    "chat.postEphemeral": "chat:write",
    "chat.postMessage": "chat:write",
    "chat.startStream": "chat:write",
    "chat.stopStream": "chat:write",
    "chat.update": "chat:write",
    "conversations.history": "",
    "conversations.replies": "",
    "files.completeUploadExternal": "files:write",
    "files.delete": "files:write",
    "files.getUploadURLExternal": "files:write",
    "reactions.add": "reactions:write",
    "usergroups.users.list": "usergroups:read",
    "users.info": "users:read",
    "views.open": "",
    "views.publish": "",
}
"""What each method that is called needs; the reading of messages is told by the places below."""
PLACES = {
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}
"""Where messages are heard, and the scope that each kind of place needs."""
SCOPES_OF_EVENTS = {
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "app_uninstalled": "",
    "assistant_thread_context_changed": "assistant:write",
    "assistant_thread_started": "assistant:write",
    "tokens_revoked": "",
}
ASKED_FOR_BY_SLACK = ("assistant_thread_context_changed",)
"""An app with the assistant pane must subscribe to it, though there is nothing to do."""
OTHER_SCOPES = ("commands", "files:read")
"""Slash commands and the shortcut; the text files that hang on questions."""
EVENTS_PATH = "/slack/events"
DESCRIPTION = "Answers from your own documents, with a footnote for every sentence."


def bot_events() -> list[str]:
    own = {event for event in EVENTS if event != "message"}
    return sorted({*own, *PLACES, *ASKED_FOR_BY_SLACK})


def bot_scopes() -> list[str]:
    wanted = {*SCOPES_OF_METHODS.values(), *SCOPES_OF_EVENTS.values(), *PLACES.values()}
    return sorted({*wanted, *OTHER_SCOPES} - {""})


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
