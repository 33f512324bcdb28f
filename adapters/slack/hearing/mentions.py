"""Slack's markup in what people write → the words that they see."""

from __future__ import annotations

import re

MARKUP = re.compile(r"<([^<>]+)>")


def mentions(text: str, user_id: str) -> bool:
    return re.search(rf"<@{re.escape(user_id)}(?:\|[^<>]*)?>", text) is not None


def begins_with_somebody_else(text: str, user_id: str) -> bool:
    """Whether a message is addressed, by its first word, to another person or group."""
    first = MARKUP.match(text.lstrip())
    if first is None:
        return False
    return first[1].startswith(("@", "!subteam^")) and not mentions(first[0], user_id)


def plain_text(text: str, bot_user_id: str) -> str:
    """What was written, without the mention of the bot and without Slack's markup."""
    own = re.compile(rf"[ \t]*<@{re.escape(bot_user_id)}(?:\|[^<>]*)?>[ \t]*[,:]?[ \t]*")
    return unescaped(MARKUP.sub(_words, own.sub(" ", text))).strip()


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _words(found: re.Match[str]) -> str:
    target, _, label = found[1].partition("|")
    if target.startswith("@"):
        return f"@{label.lstrip('@') or 'somebody'}"
    if target.startswith("#"):
        return f"#{label or 'channel'}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    address = target.removeprefix("mailto:")
    return f"{label} ({address})" if label and label not in address else address
