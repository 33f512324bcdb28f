"""The blocks that a message is made of, within what Slack takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

SECTION_LIMIT = 2_800
MESSAGE_LIMIT = 12_000
"""What a message of sections alone may hold."""

Block = dict[str, Any]


def section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}


def sections(lines: Sequence[str]) -> list[Block]:
    """Lines of mrkdwn as the blocks of one message; what it cannot hold is left out."""
    blocks, size = [], 0
    for piece in gathered(lines):
        size += len(piece)
        if size > MESSAGE_LIMIT:
            break
        blocks.append(section(piece))
    return blocks


def gathered(lines: Sequence[str], limit: int = SECTION_LIMIT) -> Iterator[str]:
    """Lines put together, never cut, to as few pieces as a section's limit allows."""
    piece = ""
    for line in lines:
        if piece and len(piece) + len(line) + 1 > limit:
            yield piece
            piece = ""
        piece = f"{piece}\n{line}" if piece else line
    if piece:
        yield piece
