"""What Slack tells of messages: events, pages of a channel, and what changed in one."""

from __future__ import annotations

from typing import Any

from tests.peers.slack_rules import Refused
from tests.peers.slack_world import SlackChannel, SlackMessage

Arguments = dict[str, Any]


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


def tombstone_event(message: SlackMessage, before: Arguments, channel: SlackChannel) -> Arguments:
    """A deleted message that has replies: its place stays, as the head of its thread."""
    grave = {
        "type": "message",
        "subtype": "tombstone",
        "user": "USLACKBOT",
        "text": "This message was deleted.",
        "hidden": True,
        "ts": message.ts,
        "thread_ts": message.ts,
    }
    return changed_event(message, before, channel) | {"message": grave}


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
