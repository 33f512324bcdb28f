"""How much is told of what there is: not all who stand in Discord's place tell as much as it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Shape = Callable[[str, Any], Any]
"""What is told, by the event or the route that tells it."""
OPTIONAL = frozenset(
    {
        "archive_timestamp",
        "auto_archive_duration",
        "avatar",
        "create_timestamp",
        "discriminator",
        "edited_timestamp",
        "embeds",
        "joined_at",
        "last_message_id",
        "member_count",
        "mention_everyone",
        "mention_roles",
        "mentions",
        "message_count",
        "nsfw",
        "permissions",
        "pinned",
        "position",
        "rate_limit_per_user",
        "topic",
        "tts",
    }
)


def whole(name: str, told: Any) -> Any:
    return told


def least(name: str, told: Any) -> Any:
    """The same without what may be left out, however deep it stands."""
    if isinstance(told, dict):
        return {key: least(name, one) for key, one in told.items() if key not in OPTIONAL}
    if isinstance(told, list):
        return [least(name, one) for one in told]
    return told
