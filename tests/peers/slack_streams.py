"""Slack's streams: a message that grows until it is stopped, or until its time is over."""

from __future__ import annotations

from time import monotonic
from typing import Any

from tests.peers.slack_rules import MAX_MARKDOWN, Refused, check_blocks, check_metadata
from tests.peers.slack_world import BOT, BOT_USER, SlackChannel, SlackMessage, SlackWorld

Arguments = dict[str, Any]
EXPIRES_AFTER = 300.0


class SlackStreams:
    """What is being streamed; one message, one stream."""

    def __init__(self, world: SlackWorld) -> None:
        self.world = world
        self.seconds = EXPIRES_AFTER
        self.began: dict[tuple[str, str], float] = {}
        self.expired = 0

    def is_open(self, channel: str, ts: str) -> bool:
        began = self.began.get((channel, ts))
        if began is None:
            return False
        if monotonic() - began > self.seconds:
            del self.began[channel, ts]
            self.expired += 1
            return False
        return True

    def start(self, channel: SlackChannel, arguments: Arguments) -> SlackMessage:
        if not arguments.get("thread_ts"):
            raise Refused("invalid_arguments", "a stream needs a thread_ts")
        if channel.kind != "im":
            for name in ("recipient_team_id", "recipient_user_id"):
                if not arguments.get(name):
                    raise Refused(f"missing_{name}")
        text = checked_markdown(arguments)
        message = self.world.add(
            SlackMessage(
                ts=self.world.next_ts(),
                channel=channel.id,
                user=BOT_USER,
                text=text,
                thread_ts=arguments["thread_ts"],
                bot_id=BOT,
            )
        )
        message.blocks = [{"type": "markdown", "text": text}] if text else []
        self.began[channel.id, message.ts] = monotonic()
        return message

    def append(self, message: SlackMessage, arguments: Arguments) -> None:
        if not self.is_open(message.channel, message.ts):
            raise Refused("message_not_in_streaming_state")
        text = checked_markdown(arguments)
        if not text:
            raise Refused("no_text")
        self._grow(message, text)

    def stop(self, message: SlackMessage, arguments: Arguments) -> None:
        if not self.is_open(message.channel, message.ts):
            raise Refused("message_not_in_streaming_state")
        self._grow(message, checked_markdown(arguments))
        if blocks := arguments.get("blocks"):
            check_blocks(blocks, at_most=50)
            message.blocks += blocks
        check_metadata(arguments.get("metadata"))
        message.metadata = arguments.get("metadata") or message.metadata
        del self.began[message.channel, message.ts]

    def _grow(self, message: SlackMessage, text: str) -> None:
        message.text += text
        if len(message.text) > MAX_MARKDOWN:
            raise Refused("msg_too_long")
        message.blocks = [{"type": "markdown", "text": message.text}] if message.text else []


def checked_markdown(arguments: Arguments) -> str:
    text = arguments.get("markdown_text") or ""
    if not isinstance(text, str):
        raise Refused("invalid_arguments", "markdown_text must be a string")
    if len(text) > MAX_MARKDOWN:
        raise Refused("msg_too_long", f"{len(text)} characters of markdown_text")
    return text
