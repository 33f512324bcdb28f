"""What the app must be granted, method by method, and what a token was granted."""

from __future__ import annotations

from collections.abc import Mapping

TOLD_IN = "x-oauth-scopes"
"""The header of Slack's answers that tells what a token may do."""
TO_ANSWER = "chat:write"
"""Without this one nothing can be said."""
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
OTHER_SCOPES = ("commands", "files:read")
"""Slash commands and the shortcut; the text files that hang on questions."""


def bot_scopes() -> list[str]:
    wanted = {*SCOPES_OF_METHODS.values(), *SCOPES_OF_EVENTS.values(), *PLACES.values()}
    return sorted({*wanted, *OTHER_SCOPES} - {""})


def granted_in(headers: Mapping[str, str]) -> frozenset[str] | None:
    """What an answer tells of its token; None where it tells nothing."""
    told = {name.lower(): value for name, value in headers.items()}.get(TOLD_IN)
    return None if told is None else frozenset(scope.strip() for scope in told.split(","))
