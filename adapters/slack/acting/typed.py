"""A slash command as somebody typed it, and what they read at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.answering.blocks import Block

Reply = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A command with its words, and where and by whom it was used."""

    name: str
    text: str
    user_id: str
    channel_id: str
    team_id: str
    trigger_id: str
    response_url: str


def typed_in(body: Mapping[str, Any]) -> Typed:
    fields = ("text", "user_id", "channel_id", "team_id", "trigger_id", "response_url")
    return Typed(
        name=str(body.get("command", "")), **{name: str(body.get(name) or "") for name in fields}
    )


def said(text: str, blocks: Sequence[Block] = ()) -> Reply:
    """Words for whoever typed, and for nobody else."""
    shown = {"text": text, "response_type": "ephemeral"}
    return {**shown, "blocks": list(blocks)} if blocks else shown
