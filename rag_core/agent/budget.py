"""What of a thread goes into the prompt: the newest turns, within a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.conversation.message import Message, Role

MAX_PROMPT_TURNS = 20
MESSAGE_OVERHEAD = 4
BYTES_A_TOKEN = 3.5
"""A careful estimate for prose, code and other scripts alike, where no tokenizer is at hand."""


def estimated_tokens(text: str) -> int:
    return int(len(text.encode("utf-8", "surrogatepass")) / BYTES_A_TOKEN) + 1


def message_tokens(message: Message) -> int:
    calls = sum(estimated_tokens(call.arguments) for call in message.tool_calls)
    return estimated_tokens(message.content) + calls + MESSAGE_OVERHEAD


def newest_turns(
    turns: Sequence[Sequence[Message]], *, tokens: int
) -> tuple[tuple[Message, ...], ...]:
    """The last turns that fit, oldest first; a turn goes in whole or not at all."""
    kept: list[tuple[Message, ...]] = []
    for turn in reversed(turns[-MAX_PROMPT_TURNS:]):
        spoken = tuple(message for message in turn if is_speech(message))
        tokens -= sum(map(message_tokens, spoken))
        if tokens < 0:
            break
        kept.insert(0, spoken)
    return tuple(kept)


def is_speech(message: Message) -> bool:
    """What was said aloud: passages of earlier answers are looked up anew, never cited again."""
    return message.role in {Role.USER, Role.ASSISTANT} and not message.tool_calls
